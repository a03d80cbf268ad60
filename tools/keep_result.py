"""Keep the result of a run in docs/results, with the command and the settings that made it.

    python tools/keep_result.py runs/NAME "recallseg run configs/voc-mini/ft.yaml"

The file is called DATASET-SCENARIO-SETUP-CONFIGURATION.json. A command with other settings than
those of its file needs a word for them: `--variation no-inpainting`.
"""

import argparse
import shlex
from pathlib import Path
from typing import Any

from recallseg.config import RunConfig, load_config
from recallseg.engine.session.facts import row_record
from recallseg.errors import RecallsegError
from recallseg.files import write_json
from recallseg.methods import build_method
from recallseg.runs.folder import RunFolder
from recallseg.runs.settings import SAID_ELSEWHERE, told_settings


def keep(run: Path, command: str, folder: Path, variation: str | None = None) -> Path:
    """Write the file, if the command stands for the settings of the run."""
    config, result = RunFolder.existing(run).config, RunFolder(run).result
    if result is None:
        raise RecallsegError(f"{run} is not finished; the same command goes on with it.")
    name, asked, words = read_command(command)
    differing = differences(config, asked)
    if differing:
        raise RecallsegError(f"{run} was not made by this command: {'; '.join(differing)}.")
    own = [word for word in words if word.split("=")[0] not in SAID_ELSEWHERE]
    if bool(own) != bool(variation):
        wish = "needs" if own else "needs no"
        raise RecallsegError(
            f"This command {wish} --variation, a word for {own or 'its settings'}."
        )
    parts = [config.data.name, config.scenario.spec, config.scenario.setup, name]
    parts += [variation] if variation else []
    parts += [f"s{config.seed}"] if config.seed else []
    path = folder / f"{'-'.join(parts)}.json"
    how: dict[str, Any] = {
        "row": row_record(config, build_method(config.method))["title"],
        "command": command,
        "settings": told_settings(config),
    }
    write_json(path, {**how, **result})
    return path


def read_command(command: str) -> tuple[str, RunConfig, list[str]]:
    """The configuration that a command names, as a name and as settings, and its overrides."""
    match shlex.split(command):
        case ["recallseg", "run", path, *words] if path.endswith(".yaml"):
            return Path(path).stem, load_config(Path(path), words), words
    raise RecallsegError(f"'{command}' is not of the kind `recallseg run FILE.yaml key=value …`.")


def differences(config: RunConfig, asked: RunConfig) -> list[str]:
    """Settings in which a run differs from what was asked for."""
    sides = []
    for each in (config, asked):
        split = {"scenario.spec": each.scenario.spec, "scenario.setup": each.scenario.setup}
        sides.append(told_settings(each) | split | {"seed": each.seed})
    ours, theirs = sides
    keys = sorted(key for key in ours | theirs if ours.get(key) != theirs.get(key))
    return [f"{key} is {ours.get(key)}, not {theirs.get(key)}" for key in keys]


def main() -> None:
    """Keep one result and print the path of its file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("command")
    parser.add_argument("--variation")
    parser.add_argument("--folder", type=Path, default=Path("docs/results"))
    chosen = parser.parse_args()
    try:
        print(keep(chosen.run, chosen.command, chosen.folder, chosen.variation))  # noqa: T201
    except RecallsegError as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()
