"""Public datasets, downloaded from a server on this machine that has small ones like them."""

import hashlib
import tarfile
import zipfile

import numpy as np
import pytest
from commands import recallseg
from drawn import draw_pair, write_voc
from running import running
from scipy.io import savemat
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from torchvision.datasets import SBDataset, voc

from recallseg.data import getting, open_dataset
from recallseg.data.getting import Archive


@pytest.fixture
def site(tmp_path):
    (tmp_path / "site").mkdir()
    app = Starlette(routes=[Mount("/", StaticFiles(directory=tmp_path / "site"))])
    with running(app) as address:
        yield address


def served(path, address):
    return Archive(f"{address}/{path.name}", hashlib.md5(path.read_bytes()).hexdigest())


@pytest.fixture
def voc_site(site, tmp_path, monkeypatch):
    """VOC with the photos a, b and v; SBD with masks of v and of c, whose photo VOC has too."""
    root = tmp_path / "made/VOCdevkit/VOC2012"
    write_voc(root, {"train": {"a": [1], "b": [2]}, "val": {"v": [3]}, "rest": {"c": [4]}})
    (root / "ImageSets/Segmentation/rest.txt").unlink()
    (root / "SegmentationClassAug").rename(root / "SegmentationClass")
    (root / "SegmentationClass/c.png").unlink()
    with tarfile.open(tmp_path / "site/voc.tar", "w") as tar:
        tar.add(tmp_path / "made/VOCdevkit", "VOCdevkit")
    contours = tmp_path / "made/benchmark_RELEASE/dataset"
    (contours / "cls").mkdir(parents=True)
    for stem, label in {"v": 9, "c": 4}.items():
        mask = np.where(draw_pair([label])[1] == 255, 0, draw_pair([label])[1])
        kind = [("Segmentation", object)]
        savemat(contours / "cls" / f"{stem}.mat", {"GTcls": np.array([(mask,)], dtype=kind)})
    (contours / "train.txt").write_text("c\n")
    (contours / "val.txt").write_text("v\n")
    with tarfile.open(tmp_path / "site/sbd.tgz", "w:gz") as tar:
        tar.add(contours.parent, "benchmark_RELEASE")
    about, sbd = (served(tmp_path / "site" / name, site) for name in ("voc.tar", "sbd.tgz"))
    entry = voc.DATASET_YEAR_DICT["2012"] | {"url": about.url, "md5": about.md5}
    monkeypatch.setitem(voc.DATASET_YEAR_DICT, "2012", entry)
    monkeypatch.setattr(SBDataset, "url", sbd.url)
    monkeypatch.setattr(SBDataset, "md5", sbd.md5)


@pytest.mark.usefixtures("voc_site")
def test_voc_comes_with_the_masks_of_sbd(tmp_path):
    done = recallseg("data", "get", "voc", RECALLSEG_DATA=str(tmp_path))
    assert done.returncode == 0, done.stderr
    train = open_dataset("voc", "train", tmp_path / "voc")
    assert [pair.stem for pair in train.pairs] == ["a", "b", "c"]
    assert [sorted(set(np.unique(train.read(row)[1])) - {0, 255}) for row in range(3)] == [
        [1],
        [2],
        [4],
    ]
    val = open_dataset("voc", "val", tmp_path / "voc")
    assert set(np.unique(val.read(0)[1])) == {0, 3, 255}, "VOC's own mask wins over SBD's"
    assert [path.name for path in (tmp_path / "voc").iterdir()] == ["VOCdevkit"]
    again = recallseg("data", "get", "voc", RECALLSEG_DATA=str(tmp_path))
    assert "holds the dataset already" in again.stderr


def test_ade_is_unpacked_where_it_is_looked_for(site, tmp_path, monkeypatch):
    path = tmp_path / "site/ade.zip"
    photo, mask = draw_pair([7])
    photo.save(tmp_path / "p.jpg")
    getting.save_mask(tmp_path / "p.png", mask)
    with zipfile.ZipFile(path, "w") as archive:
        for split in ("training", "validation"):
            archive.write(tmp_path / "p.jpg", f"ADEChallengeData2016/images/{split}/p.jpg")
            archive.write(tmp_path / "p.png", f"ADEChallengeData2016/annotations/{split}/p.png")
    monkeypatch.setattr(getting, "ADE", served(path, site))
    done = recallseg("data", "get", "ade", "-o", tmp_path / "here")
    assert done.returncode == 0, done.stderr
    assert len(open_dataset("ade", "val", tmp_path / "here")) == 1


def test_what_does_not_arrive_is_told(site, tmp_path, monkeypatch):
    (tmp_path / "site/ade.zip").write_bytes(b"half of it")
    damaged = served(tmp_path / "site/ade.zip", site)._replace(md5="0" * 32)
    monkeypatch.setattr(getting, "ADE", damaged)
    done = recallseg("data", "get", "ade", "-o", tmp_path / "here")
    assert (done.returncode, "came damaged" in done.stderr) == (2, True)
    monkeypatch.setattr(getting, "ADE", damaged._replace(url=f"{site}/nothing.zip"))
    done = recallseg("data", "get", "ade", "-o", tmp_path / "there")
    assert (done.returncode, "could not be reached (Not Found)" in done.stderr) == (2, True)
    done = recallseg("data", "get", "coco", "-o", tmp_path / "there")
    assert "Known: voc, ade" in done.stderr
