"""Which classes and photos come at which step, and how their labels are seen there."""

from recallseg.scenario.presence import PresenceTable, compute_presence, read_presence
from recallseg.scenario.scenario import RULES, SETUPS, Scenario, Step
from recallseg.scenario.specs import NAMED_SPECS, parse_spec

__all__ = [
    "NAMED_SPECS",
    "RULES",
    "SETUPS",
    "PresenceTable",
    "Scenario",
    "Step",
    "compute_presence",
    "parse_spec",
    "read_presence",
]
