"""The page in a real browser."""

import re
from pathlib import Path

import numpy as np
import pytest
from drawn import draw_pair
from running import running, wait_until

from recallseg.data.decoding import read_photo
from recallseg.predict.overlay import class_colours, overlay
from recallseg.predict.predictor import Predictor
from recallseg.predict.timeline import Timeline
from recallseg.serve.access import Access
from recallseg.serve.app import create_app
from recallseg.serve.samples import find_samples


@pytest.fixture(scope="module")
def address(learned):
    runs = {"model": Timeline(learned / "plain"), "compare": Timeline(learned / "other")}
    with running(create_app(runs, find_samples(None))) as address:
        yield address


@pytest.fixture
def page(browser, address):
    """The open page; whatever its console complains about fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page, complaints = context.new_page(), []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
    page.goto(address)
    page.wait_for_selector("#samples button")
    yield page
    context.close()
    assert not [text for text in complaints if "400" not in text]


@pytest.fixture
def photo(tmp_path):
    path = tmp_path / "photo.png"
    draw_pair([1, 2, 3], size=(120, 80))[0].save(path)
    return path


def upload(page, path):
    page.set_input_files("#file", path)
    page.wait_for_selector(".panel:not([hidden])")
    page.wait_for_selector("#panels:not(.busy)")


def choose_step(page, number):
    page.focus("#step")
    page.keyboard.press("Home")
    for _ in range(number):
        page.keyboard.press("ArrowRight")


def name_at(page, panel, x, y, size=(120, 80)):
    """What the page says of the pixel (x, y) of a photo when the pointer is there."""
    canvas = page.locator(".stage canvas:last-child").nth(panel)
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    page.mouse.move(
        box["x"] + (x + 0.5) * box["width"] / size[0],
        box["y"] + (y + 0.5) * box["height"] / size[1],
    )
    return page.inner_text("#tip")


def test_a_photo_is_shown_with_its_classes_through_all_steps(page, learned, photo):
    upload(page, photo)
    seen = {run: Timeline(learned / run).predict(read_photo(photo)) for run in ("plain", "other")}
    for step in (2, 0, 1):
        choose_step(page, step)
        label = page.inner_text("#label")
        assert label == ["step 0: 18 classes", "step 1: + train", "step 2: + tvmonitor"][step]
        assert page.get_attribute("#step", "aria-valuetext") == label
        for panel, run in enumerate(("plain", "other")):
            expected = seen[run][step]
            for x, y in ((3, 3), (60, 40), (110, 70)):
                name = expected.class_names[expected.mask[y, x]]
                assert name_at(page, panel, x, y) == name
            buttons = page.locator(".legend").nth(panel).locator("button")
            assert buttons.count() == len(expected.scores)
            assert expected.scores[0].name in buttons.first.inner_text()
    assert re.search(r"plain after step 1: .*\. other after step 1: ", page.inner_text("#status"))


def test_a_large_photo_is_shown_no_larger_than_a_screen(page, learned, tmp_path):
    path, size = tmp_path / "wide.png", (2048, 128)
    draw_pair([1, 2, 3], size=size)[0].save(path)
    upload(page, path)
    canvas = page.locator(".stage canvas:last-child").first
    assert canvas.evaluate("canvas => [canvas.width, canvas.height]") == [1024, 64]
    expected = Predictor.open(learned / "plain").predict(path)
    assert expected.mask.shape == (128, 2048)
    for x in range(100, 2048, 400):
        around = expected.mask[56:72, x - 8 : x + 9]
        names = {expected.class_names[channel] for channel in np.unique(around)}
        assert name_at(page, 0, x, 64, size) in names


def test_the_legend_lifts_a_class_out(page, learned, photo):
    upload(page, photo)

    expected = Predictor.open(learned / "plain").predict(photo)
    largest = expected.scores[0].channel

    def veil():
        script = "canvas => [...canvas.getContext('2d').getImageData(0, 0, 120, 80).data]"
        flat = page.locator(".stage canvas:last-child").first.evaluate(script)
        return np.array(flat).reshape(80, 120, 4)[..., :3].any(axis=2)

    assert (veil() == (expected.mask > 0)).all()
    button = page.locator(".legend").first.locator("button").first
    button.focus()
    page.keyboard.press("Enter")
    page.locator("#step").focus()
    assert button.get_attribute("aria-pressed") == "true"
    assert (veil() == (expected.mask == largest)).all()
    button.click()
    page.mouse.move(0, 0)
    page.locator("#step").focus()
    assert button.get_attribute("aria-pressed") == "false"
    assert (veil() == (expected.mask > 0)).all()


def picture(page):
    """What is seen of the first panel: its photo under its classes."""
    script = """stage => {
      const [photo, veil] = stage.querySelectorAll("canvas");
      const both = new OffscreenCanvas(photo.width, photo.height).getContext("2d");
      for (const canvas of [photo, veil]) both.drawImage(canvas, 0, 0);
      return [...both.getImageData(0, 0, photo.width, photo.height).data];
    }"""
    flat = page.locator(".stage").first.evaluate(script)
    return np.array(flat).reshape(80, 120, 4)[..., :3]


@pytest.mark.parametrize("opacity", [0.6, 0.0, 1.0])
def test_the_page_draws_as_the_command_does(page, learned, photo, opacity):
    """18 classes: colours that repeat are in stripes here as there."""
    upload(page, photo)
    page.locator("#opacity").fill(str(int(100 * opacity)))
    assert page.inner_text("#percent") == f"{100 * opacity:.0f} %"
    expected = Predictor.open(learned / "plain").predict(photo)
    assert expected.mask.max() > 8
    drawn = overlay(
        read_photo(photo), expected.mask, expected.class_names, opacity=opacity, names=False
    )
    np.testing.assert_allclose(picture(page), np.asarray(drawn), atol=3)


def test_panels_have_the_names_of_their_runs_and_pictures_those_of_classes(page, learned, photo):
    upload(page, photo)
    assert page.locator(".panel h2").all_inner_texts() == ["plain", "other"]
    assert page.title() == "plain and other: what the model sees"
    seen = Predictor.open(learned / "plain").predict(photo).scores
    large = {score.name for score in seen if score.channel and score.share >= 0.01}
    assert set(page.locator(".names").first.locator("span").all_inner_texts()) == large
    swatches = page.locator(".legend").first.locator("canvas")
    for place, score in enumerate(seen):
        first = "canvas => [...canvas.getContext('2d').getImageData(0, 0, 1, 1).data]"
        colour = swatches.nth(place).evaluate(first)
        expected = [*class_colours()[score.channel], 255] if score.channel else [0, 0, 0, 0]
        assert colour == expected, score.name


def test_photos_that_were_taken_can_be_clicked_again(page, photo, tmp_path):
    other = tmp_path / "other.png"
    draw_pair([4], size=(60, 80))[0].save(other)
    for path in (photo, other):
        upload(page, path)
        page.wait_for_selector(f"#samples .own button[title='{path.name}']")
    buttons = page.locator("#samples button")
    assert buttons.count() == 4
    assert [buttons.nth(place).get_attribute("title") for place in (0, 1)] == [
        "other.png",
        "photo.png",
    ]
    assert buttons.first.get_attribute("aria-pressed") == "true"
    buttons.nth(1).click()
    width = "document.querySelector('.stage canvas').width"
    wait_until(lambda: page.evaluate(width) == 120, "the first photo did not come back")
    assert buttons.nth(1).get_attribute("aria-pressed") == "true"


def test_an_old_result_goes_when_a_new_photo_fails(page, photo, tmp_path):
    upload(page, photo)
    broken = tmp_path / "broken.jpg"
    broken.write_text("not a photo")
    page.set_input_files("#file", broken)
    page.wait_for_selector("#problem:not([hidden])")
    assert page.locator(".panel:not([hidden])").count() == 0
    assert page.locator("#samples button").count() == 3
    choose_step(page, 0)
    assert page.inner_text("#status") == ""
    upload(page, photo)
    assert page.locator("#problem:not([hidden])").count() == 0


def test_a_sample_can_be_clicked_with_the_keyboard(page):
    page.locator("#samples button").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".panel:not([hidden])")
    assert "after step 2" in page.inner_text("#status")


def test_a_file_that_is_no_photo_is_refused_in_words(page, tmp_path):
    path = tmp_path / "cat.jpg"
    path.write_text("not a photo")
    page.set_input_files("#file", path)
    page.wait_for_selector("#problem:not([hidden])")
    assert "not an image" in page.inner_text("#problem")


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_hangs_over_the_edge_and_everything_has_a_name(page, photo, width):
    page.set_viewport_size({"width": width, "height": 844})
    upload(page, photo)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    unnamed = page.evaluate(
        "[...document.querySelectorAll('button, input, img, [role=img]')].filter(e =>"
        " !(e.textContent || e.ariaLabel || e.alt || e.labels?.length || e.querySelector?.('img')))"
        ".length"
    )
    assert unnamed == 0


def test_the_page_is_self_contained():
    folder = Path(__file__).parents[2] / "src/recallseg/serve"
    for name in ("page.html", "page.css", "page.js", "panel.js", "docs.html"):
        text = (folder / name).read_text().replace("http://127.0.0.1:8000/predict", "")
        assert "http" not in text.replace("the HTTP API", "")
        assert "innerHTML" not in text


def test_a_page_that_was_opened_with_a_token_passes_it_on(browser, learned, photo):
    token = "a-token-of-many-letters"
    runs, access = {"model": Timeline(learned / "plain")}, Access(token=token)
    with running(create_app(runs, find_samples(None), access=access)) as address:
        page = browser.new_page()
        page.goto(f"{address}/?token={token}")
        page.wait_for_selector("#samples button")
        page.wait_for_function("[...document.images].every((image) => image.naturalWidth)")
        upload(page, photo)
        page.click("footer a")
        page.wait_for_selector("text=Back to the page")
        page.close()
