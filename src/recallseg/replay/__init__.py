"""Where replay photos of old classes come from (paper, sec. "Replay Strategies").

`recallseg.replay.web` needs the extra `recallseg[web]`, so it is imported only where it is used.
"""

from recallseg.replay.folder_source import FolderSource
from recallseg.replay.photos import ReplayPhoto, Say, Source, read_manifest, write_manifest
from recallseg.replay.queries import MatchRule, holds, matches, query_of

__all__ = [
    "FolderSource",
    "MatchRule",
    "ReplayPhoto",
    "Say",
    "Source",
    "holds",
    "matches",
    "query_of",
    "read_manifest",
    "write_manifest",
]
