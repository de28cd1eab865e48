"""The version of the package, in a separate module that every other module may import."""

__version__ = "0.1.0"
