"""Every setting of a run: a frozen schema, YAML files and `key=value` overrides."""

from recallseg.config.loading import (
    dump_config,
    flat,
    load_config,
    load_preset,
    preset_names,
    validate,
)
from recallseg.config.method import MethodConfig
from recallseg.config.optim import OptimConfig
from recallseg.config.problems import problems
from recallseg.config.replay import LabelFilters, ReplayConfig
from recallseg.config.schema import (
    DataConfig,
    ModelConfig,
    RunConfig,
    ViewConfig,
)
from recallseg.config.section import Section
from recallseg.config.sources import SOURCES, SourceSettings, source_class

__all__ = [
    "SOURCES",
    "DataConfig",
    "LabelFilters",
    "MethodConfig",
    "ModelConfig",
    "OptimConfig",
    "ReplayConfig",
    "RunConfig",
    "Section",
    "SourceSettings",
    "ViewConfig",
    "dump_config",
    "flat",
    "load_config",
    "load_preset",
    "preset_names",
    "problems",
    "source_class",
    "validate",
]
