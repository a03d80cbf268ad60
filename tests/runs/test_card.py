import yaml
from fabricated import fabricate, world

from recallseg.runs.folder import RunFolder

BIRD = {
    "class_name": "bird",
    "title": "a bird",
    "credit": "Ann",
    "licence": "CC BY 4.0",
    "page": "https://example.org/1",
    "rejected": None,
}


def card_of(tmp_path, about=(), **changes):
    root = world(tmp_path / "voc")
    folder = fabricate(tmp_path / "my model", root, method__name="recall", **changes)
    unseen = {"page": "javascript:x", "title": "unseen", "rejected": "class not seen"}
    RunFolder(folder).write_replay_images([BIRD | dict(about), BIRD | unseen])
    RunFolder(folder).write_card()
    return (folder / "README.md").read_text()


def test_a_card_tells_classes_scores_and_whose_the_replay_photos_are(tmp_path):
    text = card_of(tmp_path, quality=0.75)
    _, front, body = text.split("---\n", 2)
    values = yaml.safe_load(front)
    assert values["library_name"] == "recallseg"
    assert values["pipeline_tag"] == "image-segmentation"
    assert values["model-index"][0]["results"][0]["metrics"][0]["value"] == 75.0
    assert body.startswith("\n# my model\n")
    assert "| 2 | tvmonitor | 10 |" in body
    assert "| sheep | 75.0 |" in body
    assert "| mean of all classes and the background | 75.0 |" in body
    assert "- Ann, CC BY 4.0: [a bird](<https://example.org/1>)" in body
    assert "unseen" not in body


def test_text_from_elsewhere_stays_text(tmp_path):
    evil = {
        "credit": "<script>x</script>",
        "title": "](javascript:x) | *b*\n# h",
        "page": "https://example.org/a>b c",
        "licence": "CC|BY",
    }
    body = card_of(tmp_path, evil.items()).split("---\n", 2)[2]
    assert "<script>" not in body
    assert r"\]\(javascript:x\) \| \*b\* \# h" in body
    assert "(<https://example.org/a%3Eb%20c>)" in body
    assert r"CC\|BY" in body


def test_a_model_that_was_not_measured_says_so(tmp_path):
    text = card_of(tmp_path, steps=2)
    assert "It was not measured after its last step." in text
    assert "model-index" not in text


def test_every_finished_run_has_a_card(learned):
    text = (learned / "plain/README.md").read_text()
    assert "| step | classes | photos it learned from |" in text
    assert "It learned from no images but its owner's photos." in text
