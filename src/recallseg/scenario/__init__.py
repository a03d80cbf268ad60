"""Which classes and photos come at which step, and how their labels are seen there."""

from recallseg.scenario.presence import PresenceTable, compute_presence, read_presence
from recallseg.scenario.scenario import RULES, SETUPS, LookUp, Scenario, Step, channels_of, look_up
from recallseg.scenario.specs import NAMED_SPECS, parse_spec

__all__ = [
    "NAMED_SPECS",
    "RULES",
    "SETUPS",
    "LookUp",
    "PresenceTable",
    "Scenario",
    "Step",
    "channels_of",
    "compute_presence",
    "look_up",
    "parse_spec",
    "read_presence",
]
