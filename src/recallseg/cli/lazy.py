"""The commands by name; the module of one is imported when it is called or its help is wanted."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

COMMANDS = {
    "demo": "demo:demo",
    "run": "run:run",
    "learn": "learn:learn",
    "rollback": "learn:rollback",
    "table": "table:table",
    "report": "report:report",
    "evaluate": "run:evaluate",
    "predict": "predict:predict",
    "serve": "serve:serve",
    "ask": "ask:ask",
    "export": "export:export",
    "hub": "hub:app",
    "info": "info:info",
    "scenario": "inspect:scenario",
    "config": "inspect:config",
    "doctor": "inspect:doctor",
    "data": "data:app",
    "toy": "toy:app",
    "replay": "replay:app",
    "gan": "gan:app",
    "cache": "cache:app",
    "bench": "bench:app",
}
"""In the order of the help: a module of this room, and the function or group in it."""


class LazyCommands(Mapping[str, Any]):
    """`COMMANDS` as the objects that Typer wants, each made when it is taken."""

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401
        return _command(name)

    def __contains__(self, name: object) -> bool:
        return name in COMMANDS

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class LazyGroup(TyperGroup):
    """The group of all commands."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401
        super().__init__(**settings)
        self.commands = LazyCommands()  # type: ignore[assignment]

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401
        """The names alone, for which nothing is imported."""
        return list(COMMANDS)


def _out_as_option(command: Any) -> None:  # noqa: ANN401
    """Let a command whose last argument is OUT take it as `-o OUT` too, as all others do."""
    for each in getattr(command, "commands", {}).values():
        _out_as_option(each)
    if not any(each.name == "out" and each.opts == ["out"] for each in command.params):
        return
    parse_args = command.parse_args

    def parse(context: Any, words: list[str]) -> Any:  # noqa: ANN401
        words = list(words)
        for place, word in enumerate(words[:-1]):
            if word in ("-o", "--out"):
                words = [*words[:place], *words[place + 2 :], words[place + 1]]
                break
        return parse_args(context, words)

    command.parse_args = parse


@cache
def _command(name: str) -> Any:  # noqa: ANN401
    module, _, part = COMMANDS[name].partition(":")
    command = getattr(import_module(f"recallseg.cli.{module}"), part)
    holder = typer.Typer(add_completion=False)
    holder.callback()(lambda: None)
    if isinstance(command, typer.Typer):
        holder.add_typer(command, name=name)
    else:
        holder.command(name)(command)
    group: Any = get_command(holder)
    found = group.commands[name]
    _out_as_option(found)
    return found
