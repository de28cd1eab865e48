"""The inputs that arguments name, each as an object."""

from urnscan.sources.arguments import find_listed
from urnscan.sources.inputs import one_by_one


def find_inputs(*arguments):
    return one_by_one(find_listed(*arguments))
