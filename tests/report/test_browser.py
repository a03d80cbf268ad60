import pytest
from fabricated import add_replay, fabricate, world

from recallseg.report.page import write_report


@pytest.fixture
def report(tmp_path):
    root = world(tmp_path / "voc")
    replays = {"method__name": "recall", "replay__source": "folder", "replay__folder__title": "Web"}
    fabricate(tmp_path / "runs/ft", root, method__name="ft")
    recall = fabricate(tmp_path / "runs/recall", root, quality=0.8, **replays)
    fabricate(tmp_path / "runs/joint", root, method__name="joint")
    add_replay(recall, root / "JPEGImages/v01.jpg", root / "SegmentationClassAug/v01.png")
    write_report([tmp_path / "runs"], tmp_path / "report.html")
    return tmp_path / "report.html"


@pytest.mark.parametrize("width", [390, 1600])
def test_a_person_clicks_through_the_report(browser, report, width):
    page = browser.new_page(viewport={"width": width, "height": 900})
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(report.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width

    mask = page.locator(".seen .mask").first
    assert opacity(mask) == pytest.approx(0.68)
    page.get_by_role("button", name="Photo", exact=True).click()
    assert opacity(mask) == 0
    page.get_by_role("button", name="Labels", exact=True).click()
    assert opacity(mask) == 1

    heat = page.locator("[data-kind=heat]")
    panes = heat.locator(".pane")
    assert [pane.is_visible() for pane in panes.all()] == [True, False, False]
    heat.get_by_role("button", name="RECALL (Web)").click()
    assert [pane.is_visible() for pane in panes.all()] == [False, True, False]

    picture = page.get_by_role("button", name="FT, show in full size").first
    picture.click()
    full = page.get_by_role("dialog")
    assert full.is_visible()
    assert "FT" in full.inner_text()
    assert full.locator(".stage").bounding_box()["width"] > picture.bounding_box()["width"]
    page.keyboard.press("Escape")
    assert not full.is_visible()
    assert complaints == []


def opacity(image):
    return float(image.evaluate("image => getComputedStyle(image).opacity"))
