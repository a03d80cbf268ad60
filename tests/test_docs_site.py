"""The site of the documents is whole, and asks no other server for anything."""

import re
import shlex
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml
from typer.main import get_command

from recallseg.cli.main import app

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("mkdocs")
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out


class Loaded(HTMLParser):
    """What a page loads by itself, and where its links lead."""

    def __init__(self, text):
        super().__init__()
        self.loads, self.links = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if tag in ("script", "img", "iframe", "source"):
            self.loads.append(values.get("src"))
        elif tag == "link" and "canonical" not in values.get("rel", ""):
            self.loads.append(values.get("href"))
        elif tag == "a":
            self.links.append(values.get("href"))


def test_every_page_stands_by_itself(site):
    pages = sorted(site.rglob("*.html"))
    assert {"index.html", "guide.html", "log/geometry.html"} <= {
        page.relative_to(site).as_posix() for page in pages
    }
    for page in pages:
        seen = Loaded(page.read_text())
        for target in filter(None, seen.loads + seen.links):
            if re.match(r"https?://|mailto:|#|javascript:", target):
                assert target not in seen.loads, f"{page.name} loads {target}"
            elif not target.startswith("/"):  # 404.html speaks for any place
                path = page.parent / target.split("#")[0].split("?")[0]
                assert path.exists(), f"{page.name} leads to {target}"


def test_no_table_of_results_is_cut_off_on_a_laptop(site, browser):
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto((site / "results.html").as_uri())
    widths = page.eval_on_selector_all(
        "table", "tables => tables.map(table => [table.scrollWidth, table.clientWidth])"
    )
    page.close()
    assert len(widths) > 20
    assert all(whole <= seen for whole, seen in widths), widths


def test_every_document_has_a_place_in_the_menu():
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]
    named = set(re.findall(r"[\w/]+\.md", str(nav)))
    documents = {path.name for path in (ROOT / "docs").glob("*.md")}
    assert documents <= named


def test_the_dockerfile_fits_the_package():
    text = (ROOT / "Dockerfile").read_text()
    pins = (ROOT / "constraints.txt").read_text()
    for pin in re.findall(r"torch\w*==[\d.]+", text):
        assert pin in pins
    project = (ROOT / "pyproject.toml").read_text()
    for extra in re.findall(r"'\.\[(\w+)\]'", text):
        assert re.search(rf"^{extra} = \[", project, re.MULTILINE)
    assert text.index("USER recallseg") < text.index("ENTRYPOINT")
    words = yaml.safe_load(re.search(r"^CMD (.*)$", text, re.MULTILINE)[1])
    command = get_command(app)
    with command.make_context("recallseg", list(words)) as context:
        name, found, rest = command.resolve_command(context, words)
        assert name == "serve"
        assert found.make_context(name, list(rest), parent=context).params["host"] == "0.0.0.0"
    copied = shlex.split(" ".join(re.findall(r"^COPY (.*)$", text, re.MULTILINE)))
    for source in copied:
        assert source in ("./", "./src") or (ROOT / source).exists()
