"""What a model's own settings would contact: a folder that was received may name anybody."""

from collections.abc import Sequence
from pathlib import Path

from recallseg.config import RunConfig
from recallseg.errors import RecallsegError


def check_contacts(config: RunConfig, overrides: Sequence[str], model: Path) -> str | None:
    """What the source of replay images contacts, in words, or None.

    Addresses that came with the model, and not with this command, are refused.
    """
    settings = config.replay.settings
    if settings is None:
        return None
    named = {word.partition("=")[0]: word for word in overrides}
    part = f"replay.{config.replay.source}"
    for name, addresses in settings.own_addresses().items():
        if addresses and f"{part}.{name}" not in named:
            value = addresses[0] if len(addresses) == 1 else f"[{','.join(addresses)}]"
            raise RecallsegError(
                f"The settings of {model} would contact {', '.join(addresses)}, which you did not "
                f"name; if you trust that, say so with {part}.{name}={value}. To learn without "
                "photos of old classes, add --source none."
            )
    return settings.contacts()
