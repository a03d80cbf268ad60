"""Commands that may be killed, what each needs in a place of its own, and what it leaves there."""

import random
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from children import Child, contents
from photo_site import KEY, PhotoSite, photos_of
from PIL import Image
from tiny_life import TinyLife, answer

Words = list[Any]
KNOWN = "already; name the new classes with --classes"


@dataclass
class Work:
    """A command, what it needs in a place of its own, and what it leaves there."""

    name: str
    words: Callable[[Path], Words]
    prepare: Callable[[Path], None]
    left: Callable[[Path], Any]
    done_before: str = "nothing says so"
    """What it says, and does nothing, if it came to its end before it was killed."""

    def start(self, place: Path) -> Child:
        """Begin it in a place."""
        environment = {"RECALLSEG_CACHE": str(place / "cache"), "FLICKR_API_KEY": KEY}
        return Child(self.words(place), environment)

    def in_peace(self, place: Path) -> tuple[Any, float]:
        """What it leaves when nobody disturbs it, and how long it takes."""
        place.mkdir()
        self.prepare(place)
        began = time.monotonic()
        ended = self.start(place).outcome()
        assert ended.code == 0, (self.name, ended.err)
        return self.left(place), time.monotonic() - began

    def under_fire(self, place: Path, kills: int, length: float, dice: random.Random) -> Any:
        """What it leaves after some kills, and how many struck before it had ended."""
        place.mkdir()
        self.prepare(place)
        struck = 0
        for _ in range(kills):
            child = self.start(place)
            time.sleep(dice.uniform(0, length))
            killed = child.kill()
            struck += killed
            self._check(child, killed)
        self._check(self.start(place), killed=False)
        return self.left(place), struck

    def _check(self, child: Child, killed: bool) -> None:
        """It was killed, or did its work, now or before."""
        ended = child.outcome()
        done = ended.code == 0 or (ended.code == 2 and self.done_before in ended.err)
        assert done or (killed and ended.code is None), (self.name, ended.code, ended.err)


@contextmanager
def works(root: Path) -> Iterator[dict[str, Work]]:
    """All commands that are killed, by name."""
    life = TinyLife(root / "life")
    begun = root / "begun"
    life.learn("a", begun)
    two = life.model()
    colours(root / "colours")
    photos = [*photos_of("cat", 6, 100), *photos_of("dog", 6, 200)]
    with PhotoSite(photos) as site:

        def crawling(place: Path) -> Words:
            words = life.learn_words("b", place / "model")[:-2]
            web = [f"replay.web.base_url={site.base}/services/rest/", "replay.web.site=flickr"]
            hosts = site.base.removeprefix("http://")
            web += [f"replay.web.allow_hosts=[{hosts}]", "replay.web.interval=0"]
            return [*words, *web, "--source", "web"]

        def copy_of(model: Path) -> Callable[[Path], None]:
            return lambda place: (shutil.copytree(model, place / "model"), None)[1]

        def fill_cache(place: Path) -> None:
            shutil.copytree(life.cache, place / "cache")

        def run_folder(place: Path) -> Any:
            [folder] = (place / "runs").iterdir()
            return answer(folder)

        gan: Words = ["gan", "train", root / "colours"]
        gan += ["--resolution", 32, "--iterations", 4, "--batch", 4, "--width", 4, "--guidance", 0]
        gan += ["--discriminator", "plain", "--first-side", 4, "--checkpoint-seconds", 0]
        every = [
            Work(
                "learn",
                lambda place: life.learn_words("b", place / "model"),
                copy_of(begun),
                lambda place: answer(place / "model"),
                done_before=KNOWN,
            ),
            Work(
                "run",
                lambda place: ["run", life.run_config(), "-o", place / "runs"],
                lambda place: None,
                run_folder,
            ),
            Work(
                "rollback",
                lambda place: ["rollback", place / "model", "--to", 0],
                copy_of(two),
                lambda place: answer(place / "model"),
            ),
            Work(
                "crawl",
                crawling,
                copy_of(begun),
                lambda place: answer(place / "model"),
                done_before=KNOWN,
            ),
            Work(
                "cache",
                lambda place: ["cache", "clear"],
                fill_cache,
                lambda place: [p for p in contents(place / "cache") if not p.startswith(".")],
            ),
            Work(
                "gan train",
                lambda place: [*gan, "-o", place / "g.safetensors"],
                lambda place: None,
                lambda place: (place / "g.safetensors").read_bytes(),
            ),
        ]  # fmt: skip
        yield {work.name: work for work in every}


def colours(folder: Path) -> None:
    """Images of two classes for a generator."""
    dice = random.Random(0)
    for name, (red, blue) in {"blue": (40, 220), "red": (220, 40)}.items():
        (folder / name).mkdir(parents=True)
        for number in range(6):
            colour = (red, dice.randrange(80), blue)
            Image.new("RGB", (32, 32), colour).save(folder / name / f"{number}.png")
