"""The file that describes a table, and the runs that it asks for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml
from pydantic import Field, ValidationError, field_validator, model_validator

from recallseg.config import RunConfig, Section, load_config, problems
from recallseg.errors import RecallsegError, unknown_name
from recallseg.files import read_text
from recallseg.runs.settings import folder_name

Setup = Literal["disjoint", "overlapped", "sequential"]


class Part(Section):
    """Some of a table's columns; what is not named means all."""

    scenarios: tuple[str, ...] | None = None
    setups: tuple[Setup, ...] | None = None

    def covers(self, scenario: str, setup: str) -> bool:
        """Whether a column is among them."""
        return _has(self.scenarios, scenario) and _has(self.setups, setup)


class RowSpec(Part):
    """The configuration of a row that needs more than the name of one file."""

    config: tuple[str, ...]
    """The file of its settings, and files whose settings replace some of them."""
    overrides: tuple[str, ...] = ()

    @field_validator("config", mode="before")
    @classmethod
    def _one_or_more(cls, names: object) -> object:
        return (names,) if isinstance(names, str) else names


class MoreSeeds(Part):
    """Seeds beside the table's for some of its runs."""

    seeds: tuple[int, ...]
    rows: tuple[str, ...] | None = None


class TableSpec(Section):
    """Which runs a table is made of."""

    configs: Path
    """The folder of their configurations, relative to the table's file."""
    rows: dict[str, str | RowSpec]
    """Row name to configuration: `MiB: mib` reads mib.yaml; or files and overrides."""
    variants: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Name to `key=value`: each row comes once with each of these, as `row, variant`."""
    scenarios: tuple[str, ...] = ("15-1",)
    setups: tuple[Setup, ...] = ("disjoint",)
    seeds: tuple[int, ...] = (0,)
    more_seeds: tuple[MoreSeeds, ...] = ()
    overrides: tuple[str, ...] = ()
    """`key=value` for all rows; a row's own come after them."""

    @model_validator(mode="after")
    def _names_what_it_has(self) -> "TableSpec":
        for more in self.more_seeds:
            _check("row", more.rows, [name for name, _ in self.all_rows()])
        rows = (row for row in self.rows.values() if isinstance(row, RowSpec))
        parts: tuple[Part, ...] = (*self.more_seeds, *rows)
        for part in parts:
            _check("scenario", part.scenarios, self.scenarios)
            _check("setup", part.setups, self.setups)
        return self

    def all_rows(self) -> Iterator[tuple[str, RowSpec]]:
        """Every row by name, in all its variants."""
        for name, row in self.rows.items():
            plain = RowSpec(config=(row,)) if isinstance(row, str) else row
            for variant, words in self.variants.items():
                overrides = (*words, *plain.overrides)
                yield f"{name}, {variant}", plain.model_copy(update={"overrides": overrides})
            if not self.variants:
                yield name, plain

    def seeds_of(self, row: str, scenario: str, setup: str) -> tuple[int, ...]:
        """The seeds of one row in one column, the table's own first."""
        seeds = list(self.seeds)
        for more in self.more_seeds:
            if _has(more.rows, row) and more.covers(scenario, setup):
                seeds += more.seeds
        return tuple(dict.fromkeys(seeds))


@dataclass(frozen=True)
class RunGroup:
    """The runs of one row in one scenario and setup, one per seed."""

    row: str
    scenario: str
    setup: str
    runs: tuple[tuple[Path, RunConfig], ...]
    """Each run's folder and configuration. Rows that ask for the same run share its folder."""


def plan_table(spec: Path, overrides: Sequence[str], out: Path) -> Iterator[RunGroup]:
    """All cells with their configurations, read and checked before the first run."""
    table = read_spec(spec)
    folder = spec.parent / table.configs
    for scenario in table.scenarios:
        for setup in table.setups:
            split = [f"scenario.spec={scenario}", f"scenario.setup={setup}"]
            for name, row_spec in table.all_rows():
                if not row_spec.covers(scenario, setup):
                    continue
                path, *over = (folder / f"{file}.yaml" for file in row_spec.config)
                runs = []
                for seed in table.seeds_of(name, scenario, setup):
                    words = [*split, f"seed={seed}", *table.overrides, *row_spec.overrides]
                    config = load_config(path, [*words, *overrides], over=over)
                    runs.append((out / folder_name(path, config), config))
                yield RunGroup(name, scenario, setup, tuple(runs))


def read_spec(path: Path) -> TableSpec:
    """The YAML file that describes a table."""
    try:
        return TableSpec.model_validate(yaml.safe_load(read_text(path)))
    except FileNotFoundError as error:
        raise RecallsegError(f"The table {path} does not exist.") from error
    except ValidationError as error:
        raise RecallsegError(f"{path} does not describe a table: {problems(error)}.") from error
    except yaml.YAMLError as error:
        raise RecallsegError(f"{path} does not describe a table: it is not YAML.") from error


def _has(names: Sequence[str] | None, name: str) -> bool:
    return names is None or name in names


def _check(kind: str, names: Sequence[str] | None, known: Sequence[str]) -> None:
    for name in names or ():
        if name not in known:
            raise ValueError(str(unknown_name(f"{kind} of the table", name, known)))
