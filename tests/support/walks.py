"""The inputs that arguments name, each as an object."""

from urnscan.inputs.arguments import find_listed
from urnscan.stores.input import one_by_one


def find_inputs(*arguments):
    return one_by_one(find_listed(*arguments))
