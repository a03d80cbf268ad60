"""Where replay photos of old classes come from (paper, sec. "Replay Strategies").

`recallseg.config.SOURCES` lists the sources. Nothing here loads torch or the packages of
`recallseg[web]` before a source is opened.
"""

from recallseg.replay.photos import ReplayPhoto, read_manifest, write_manifest
from recallseg.replay.queries import MatchRule, holds, matches, query_of
from recallseg.replay.source import Lesson, Memory, Say, Source

__all__ = [
    "Lesson",
    "MatchRule",
    "Memory",
    "ReplayPhoto",
    "Say",
    "Source",
    "holds",
    "matches",
    "query_of",
    "read_manifest",
    "write_manifest",
]
