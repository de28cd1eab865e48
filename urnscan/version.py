"""The version of the package: a module of its own, which every other may import."""

__version__ = "0.1.0"
