"""Replay photos from disk."""

import hashlib
import json
import os
from pathlib import Path

import pytest
from photo_site import draw

from recallseg.errors import RecallsegError
from recallseg.replay import ReplayPhoto, read_manifest, write_manifest
from recallseg.replay.folder_source import FolderSource


@pytest.fixture
def said():
    return []


def listed(root: Path, lines: list[dict]) -> Path:
    (root / "photos").mkdir()
    for line in lines:
        draw(1).save(root / line["file"])
    (root / "photos.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return root


def line(name: str, tags: list[str], description: str, collection: str = "a") -> dict:
    file = f"photos/{name}.jpg"
    return {
        "id": name,
        "file": file,
        "collection": collection,
        "tags": tags,
        "description": description,
    }


def test_a_folder_per_class_is_read_in_the_order_of_names(tmp_path, said):
    (tmp_path / "airplane").mkdir()
    for name in ("b.jpg", "a.png", "c.jpg"):
        draw(3).save(tmp_path / "airplane" / name)
    (tmp_path / "airplane/notes.txt").write_text("not a photo")
    photos = FolderSource(tmp_path).collect("aeroplane", 2, tmp_path / "out", said.append)
    assert [photo.file.name for photo in photos] == ["a.png", "b.jpg"]
    assert photos[0].file.is_absolute()
    assert photos[0].query == "airplane"
    assert photos[0].sha256 == hashlib.sha256(photos[0].file.read_bytes()).hexdigest()
    assert said == []
    assert not (tmp_path / "out").exists()


def test_fewer_photos_than_asked_for_are_a_warning(tmp_path, said):
    (tmp_path / "cat").mkdir()
    draw(3).save(tmp_path / "cat/a.jpg")
    (tmp_path / "cat/b.jpg").write_bytes(b"broken")
    source = FolderSource(tmp_path)
    assert len(source.collect("cat", 5, tmp_path, said.append)) == 1
    assert "1 file(s)" in said[0]
    assert "1 of 5 photos of 'cat'" in said[1]
    assert source.collect("dog", 5, tmp_path, said.append) == []
    assert "0 of 5 photos of 'dog'" in said[2]


def test_a_list_is_filtered_by_tags_description_and_collection(tmp_path, said):
    lines = [
        line("1", ["cat"], "A photo of cat"),
        line("2", ["cat", "dog"], "A photo of dog"),
        line("3", ["dog"], "A photo of a cat"),
        line("4", ["cats"], "Two cats", "b"),
    ]
    root = listed(tmp_path, lines)

    def names(**options):
        source = FolderSource(root, **options)
        return [photo.file.stem for photo in source.collect("cat", 4, tmp_path, said.append)]

    assert names() == ["1", "4"]
    assert names(match="any") == ["1", "2", "3", "4"]
    assert names(collection="b") == ["4"]
    assert names(queries={"cat": "dog"}) == ["2"]


def test_a_lists_licence_and_credit_are_passed_on(tmp_path, said):
    root = listed(tmp_path, [line("1", ["cat"], "cat") | {"license": "CC0 1.0", "credit": "Ada"}])
    (photo,) = FolderSource(root / "photos.jsonl").collect("cat", 1, tmp_path, said.append)
    assert (photo.licence, photo.credit) == ("CC0 1.0", "Ada")


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"file": "a.jpg"}', '{"file": "a", "description": 3, "tags": []}']
)
def test_a_broken_line_is_named(tmp_path, said, text):
    (tmp_path / "photos.jsonl").write_text("\n" + text + "\n")
    with pytest.raises(RecallsegError, match="Line 2 of"):
        FolderSource(tmp_path).collect("cat", 1, tmp_path, said.append)


def test_wrong_folders_collections_and_missing_files_are_sentences(tmp_path, said):
    with pytest.raises(RecallsegError, match="does not exist; it must hold a folder per class"):
        FolderSource(tmp_path / "no").collect("cat", 1, tmp_path, said.append)
    with pytest.raises(RecallsegError, match=r"has no photos.jsonl, so it has no collection 'x'"):
        FolderSource(tmp_path, collection="x").collect("cat", 1, tmp_path, said.append)
    root = listed(tmp_path, [line("1", ["cat"], "cat")])
    with pytest.raises(RecallsegError, match=r"Unknown collection of .* 'x'. Known: a"):
        FolderSource(root, collection="x").collect("cat", 1, tmp_path, said.append)
    (root / "photos/1.jpg").unlink()
    with pytest.raises(RecallsegError, match=r"1\.jpg does not exist"):
        FolderSource(root).collect("cat", 1, tmp_path, said.append)


def test_the_real_list_has_the_counts_of_an_independent_scan(voc_mini, tmp_path, said):
    lines = [json.loads(row) for row in (voc_mini / "web/photos.jsonl").read_text().splitlines()]
    held = [
        row
        for row in lines
        if row["collection"] == "voc-holdout"
        and "airplane" in row["tags"]
        and "airplane" in row["description"].split()
    ]
    source = FolderSource(voc_mini / "web", collection="voc-holdout")
    photos = source.collect("aeroplane", 500, tmp_path, said.append)
    assert [photo.file.stem for photo in photos] == [row["id"] for row in held]
    assert len(photos) > 100
    motorbikes = FolderSource(voc_mini / "web", collection="caltech101")
    assert len(motorbikes.collect("motorbike", 500, tmp_path, said.append)) == 60


def test_a_manifest_comes_back_as_it_was(tmp_path):
    photos = [
        ReplayPhoto("cat", Path("a.jpg"), "flickr", "cat", "https://x/y", "Ünder", "CC0", "Ada"),
        ReplayPhoto("dog", Path("/b.jpg"), "folder", "dog", "/b.jpg", sha256="ab", phash="cd"),
    ]
    write_manifest(tmp_path / "replay/manifest.jsonl", photos)
    assert read_manifest(tmp_path / "replay/manifest.jsonl") == photos
    assert photos[0].path(tmp_path) == tmp_path / "a.jpg"
    assert photos[1].path(tmp_path) == Path("/b.jpg")
    with pytest.raises(RecallsegError, match="not an entry of a replay manifest"):
        ReplayPhoto.from_line('{"class_name": "cat"}')
    with pytest.raises(RecallsegError, match="does not exist"):
        read_manifest(tmp_path / "none.jsonl")


@pytest.mark.parametrize("file", ["../cat.jpg", "ABSOLUTE", "photos/../../cat.jpg", "link.jpg"])
def test_a_list_names_photos_of_its_own_folder_only(tmp_path, said, file):
    draw(1).save(tmp_path / "cat.jpg")
    root = tmp_path / "list"
    root.mkdir()
    listed(root, [line("a", ["cat"], "a cat")])
    (root / "link.jpg").symlink_to(tmp_path / "cat.jpg")
    outside = line("b", ["cat"], "a cat") | {
        "file": file.replace("ABSOLUTE", str(tmp_path / "cat.jpg"))
    }
    with (root / "photos.jsonl").open("a") as lines:
        lines.write(json.dumps(outside) + "\n")
    source = FolderSource(root)
    with pytest.raises(RecallsegError, match=r"Line 2 of .* is not in the folder of the list"):
        source.collect("cat", 2, tmp_path, said.append)


@pytest.mark.parametrize("is_list", [True, False])
def test_a_pipe_is_left_alone(tmp_path, said, is_list):
    (tmp_path / "cat").mkdir()
    os.mkfifo(tmp_path / "cat/a.jpg")
    draw(1).save(tmp_path / "cat/b.jpg")
    if is_list:
        lines = [line(name, ["cat"], "a cat") | {"file": f"cat/{name}.jpg"} for name in "ab"]
        (tmp_path / "photos.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    photos = FolderSource(tmp_path).collect("cat", 1, tmp_path / "out", said.append)
    assert [photo.file.name for photo in photos] == ["b.jpg"]
    assert "1 file(s)" in said[0]
