"""Every setting of a run: a frozen schema, YAML files and `key=value` overrides."""

from recallseg.config.loading import (
    dump_config,
    flat,
    load_config,
    load_preset,
    preset_names,
    problems,
    validate,
)
from recallseg.config.schema import (
    MethodConfig,
    ModelConfig,
    OptimConfig,
    ReplayConfig,
    RunConfig,
    Section,
    ViewConfig,
)

__all__ = [
    "MethodConfig",
    "ModelConfig",
    "OptimConfig",
    "ReplayConfig",
    "RunConfig",
    "Section",
    "ViewConfig",
    "dump_config",
    "flat",
    "load_config",
    "load_preset",
    "preset_names",
    "problems",
    "validate",
]
