"""The version, apart from everything that a program may ask the package for."""

__version__ = "0.1.0"
