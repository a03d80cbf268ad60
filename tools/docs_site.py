"""The documents as a site: mkdocs calls this to add what lies outside docs/ and mend its links.

    mkdocs build

The README is the first page. A link to a file that is no document, such as an example, leads to a
copy of it in the site.
"""

import os
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "CHANGELOG.md": "CHANGELOG.md",
}
COPIED = ("examples", "configs", "tables", "Dockerfile", "CITATION.cff")
LINK = re.compile(r"(?<=\]\()([^)#:\s]+)")


def on_files(files: Files, config: Any) -> Files:  # noqa: ANN401
    """Add the pages and files that lie outside docs/."""
    for source, place in PAGES.items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / source)))
    for name in COPIED:
        path = ROOT / name
        for each in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if each.is_file() and "__pycache__" not in each.parts:
                place = each.relative_to(ROOT).as_posix()
                files.append(File.generated(config, place, abs_src_path=str(each)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:  # noqa: ANN401
    """Lead links to where their targets are in the site."""
    path = Path(page.file.abs_src_path).resolve()
    here = posixpath.dirname(page.file.src_uri)

    def mended(match: re.Match[str]) -> str:
        target = Path(os.path.normpath(path.parent / match[1]))
        if not target.is_relative_to(ROOT):
            return match[1]
        inside = target.relative_to(ROOT).as_posix()
        place = PAGES.get(inside, inside.removeprefix("docs/"))
        return posixpath.relpath(place, here or ".")

    return LINK.sub(mended, markdown)
