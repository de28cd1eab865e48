"""The inputs that arguments name, each as an object."""

from urnscan.sources.inputs import one_by_one
from urnscan.sources.walk import find_listed


def find_inputs(*arguments):
    return one_by_one(find_listed(*arguments))
