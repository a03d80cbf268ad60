"""The sources of replay images, by the name that a configuration gives them."""

from collections.abc import Callable
from pathlib import Path

from recallseg.config import ReplayConfig
from recallseg.data.kinds import found_path
from recallseg.errors import RecallsegError, unknown_name
from recallseg.replay.folder_source import FolderSource
from recallseg.replay.photos import Source


def _folder(config: ReplayConfig) -> Source:
    return FolderSource(
        found_path(replay_path(config)), config.collection, config.match, config.queries
    )


def _web(config: ReplayConfig) -> Source:
    try:
        from recallseg.replay.web.crawler import WebSource
        from recallseg.replay.web.fetching import FetchLimits, PoliteClient
        from recallseg.replay.web.sites import SITES
    except ImportError as error:
        raise RecallsegError(
            "replay.source=web needs more packages: pip install 'recallseg[web]'."
        ) from error
    client = PoliteClient(FetchLimits(interval=config.interval), allow_hosts=config.allow_hosts)
    build = SITES[config.site]
    site = build(client, base=config.base_url) if config.base_url else build(client)
    return WebSource(site, client, config.match, config.queries)


def _gan(config: ReplayConfig) -> Source:
    from recallseg.gan.generator import load_generator
    from recallseg.gan.named_tensors import class_names
    from recallseg.gan.shipped import generator_file
    from recallseg.replay.gan_source import GanSource

    path = generator_file(replay_path(config))
    names = class_names(path)
    generator = load_generator(path)
    return GanSource(generator, names=names, truncation=config.truncation, side=config.side)


SOURCES: dict[str, Callable[[ReplayConfig], Source]] = {
    "folder": _folder,
    "web": _web,
    "gan": _gan,
}


def build_source(config: ReplayConfig) -> Source:
    """The source that a configuration names, ready to be asked for images."""
    if config.source not in SOURCES:
        raise unknown_name("replay source", config.source, ["none", *SOURCES])
    return SOURCES[config.source](config)


def replay_path(config: ReplayConfig) -> Path:
    """`replay.path`, which some sources need."""
    if config.path is None:
        raise RecallsegError(f"replay.source={config.source} needs replay.path.")
    return config.path
