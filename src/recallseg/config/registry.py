"""Classes that are named where they are listed, and imported when they are wanted."""

from collections.abc import Mapping
from importlib import import_module

from recallseg.errors import unknown_name


def class_named(kind: str, name: str, registry: Mapping[str, str | type]) -> type:
    """The class that a registry has under a name: itself, or as `module:Class`."""
    if name not in registry:
        raise unknown_name(kind, name, registry)
    entry = registry[name]
    if isinstance(entry, type):
        return entry
    module, _, attribute = entry.partition(":")
    found: type = getattr(import_module(module), attribute)
    return found
