"""The paper's tables against their own arithmetic; what disagrees is listed, not repaired."""

import pytest

from recallseg.paper import COUNTS_BACKGROUND_AS_OLD, NOTES, paper, table_1

SCENARIOS = ("19-1", "15-5", "15-1", "10-10", "10-5", "10-1")
UPPER = SCENARIOS[:3]
SETUPS = ("disjoint", "overlapped")
ROUNDING = 0.101
TABLES = paper()
PER_CLASS = TABLES["per_class"]["scenarios"]


def first(scenario):
    return int(scenario.split("-")[0])


def mean(values):
    return sum(values) / len(values)


def cells():
    for row in TABLES["table_1"]:
        for scenario in SCENARIOS:
            for setup in SETUPS:
                yield row, scenario, setup, TABLES["table_1"][row][scenario][setup]


def test_table_1_is_whole():
    assert len(TABLES["table_1"]) == 11
    assert sum(len(numbers) for *_, numbers in cells()) == 11 * 12 * 3
    assert table_1("RECALL (Web)", "15-1", "disjoint") == {"old": 67.6, "new": 49.2, "all": 64.3}
    assert table_1("RECALL (Web)", "7-3", "disjoint") is None


def test_all_follows_from_old_and_new_where_old_counts_the_background():
    off = {
        (row, scenario, setup)
        for row, scenario, setup, (old, new, all_) in cells()
        if row in COUNTS_BACKGROUND_AS_OLD
        and abs(((first(scenario) + 1) * old + (20 - first(scenario)) * new) / 21 - all_) > ROUNDING
    }
    foreground_only = {("MiB", scenario, setup) for scenario in UPPER for setup in SETUPS}
    assert off == foreground_only | {("ILT", "10-5", "overlapped"), ("ILT", "10-1", "disjoint")}


@pytest.mark.parametrize("scenario", UPPER)
@pytest.mark.parametrize("setup", SETUPS)
def test_mib_leaves_the_background_out_in_the_upper_half(scenario, setup):
    found, count = table_1("MiB", scenario, setup), first(scenario)
    foreground = (count * found["old"] + (20 - count) * found["new"]) / 20
    assert foreground == pytest.approx(found["all"], abs=ROUNDING)


def test_other_rows_leave_a_plausible_background():
    for row, scenario, _, (old, new, all_) in cells():
        if row not in COUNTS_BACKGROUND_AS_OLD:
            background = 21 * all_ - first(scenario) * old - (20 - first(scenario)) * new
            assert 75 < background < 95


def test_joint_is_the_same_whatever_comes_first():
    assert {numbers[2] for row, *_, numbers in cells() if row == "Joint"} == {75.4}


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("row", ["FT", "Inpainting", "GAN", "Web", "Joint"])
def test_per_class_rows_give_their_means(scenario, row):
    found, count = PER_CLASS[scenario][row], first(scenario)
    values = found["iou"]
    assert len(values) == 21
    assert mean(values) == pytest.approx(found["all"], abs=ROUNDING)
    if (scenario, row) == ("15-5", "FT"):
        assert found == PER_CLASS["19-1"]["FT"]
        return
    start = 0 if row in COUNTS_BACKGROUND_AS_OLD else 1
    assert mean(values[start : count + 1]) == pytest.approx(found["old"], abs=ROUNDING)
    assert mean(values[count + 1 :]) == pytest.approx(found["new"], abs=ROUNDING)


def test_per_class_rows_and_table_1_agree_except_where_fine_tuning_is_one_off():
    names = {"FT": "FT", "Joint": "Joint", "GAN": "RECALL (GAN)", "Web": "RECALL (Web)"}
    differing = {
        (scenario, row)
        for scenario in SCENARIOS
        for row, name in names.items()
        if any(
            abs(PER_CLASS[scenario][row][key] - value) > ROUNDING
            for key, value in table_1(name, scenario, "disjoint").items()
        )
    }
    assert differing == {("15-5", "FT"), ("15-1", "FT")}
    shifted = PER_CLASS["15-1"]["FT"]
    assert [shifted[key] for key in ("old", "new", "all")] == [8.4, 33.5, 14.4]
    assert TABLES["table_1"]["FT"]["15-5"]["disjoint"] == [8.4, 33.5, 14.4]


def test_inpainting_per_class_is_partly_the_overlapped_one():
    ablation = TABLES["ablation"]["Bgr inp."]
    disjoint = {
        s for s in SCENARIOS if PER_CLASS[s]["Inpainting"]["all"] == ablation[s]["disjoint"]
    }
    overlapped = {
        s for s in SCENARIOS if PER_CLASS[s]["Inpainting"]["all"] == ablation[s]["overlapped"]
    }
    assert disjoint == {"19-1", "15-5"}
    assert overlapped == {"15-1", "10-10", "10-5", "10-1"}


@pytest.mark.parametrize("source", ["GAN", "Web"])
def test_ablation_and_pre_training_repeat_table_1(source):
    row = f"RECALL ({source})"
    differing = set()
    for scenario in SCENARIOS:
        for setup in SETUPS:
            numbers = TABLES["table_1"][row][scenario][setup]
            assert TABLES["ablation"][f"{source}+inp."][scenario][setup] == numbers[2]
            if TABLES["pre_training"][source]["ImageNet"][scenario][setup] != numbers:
                differing.add((source, scenario, setup))
    assert differing == ({("Web", "15-1", "overlapped")} if source == "Web" else set())


@pytest.mark.parametrize("row", ["FT", "ILT", "MiB", "SDR", "RECALL (GAN)", "RECALL (Web)"])
def test_per_round_means_follow_from_old_and_new(row):
    rounds = {name: rows[row] for name, rows in TABLES["per_round"].items()}
    assert all(len(values) == 10 for values in rounds.values())
    assert rounds["mIoU (all)"][-1] == table_1(row, "10-1", "disjoint")["all"]
    background = 1 if row.startswith("RECALL") else 0
    for step in range(10):
        count = 10 + step + background
        total = count * rounds["mIoU (old)"][step] + rounds["IoU (new)"][step]
        assert total / (count + 1) == pytest.approx(rounds["mIoU (all)"][step], abs=0.16)


def test_replay_on_competitors_begins_at_table_1():
    for row, values in TABLES["replay_on_competitors"].items():
        assert values["none"] == table_1(row, "15-1", "disjoint")["all"]
        assert list(values) == ["none", "naive (GAN)", "naive (Web)", "ours (GAN)", "ours (Web)"]


def test_the_mapping_covers_all_but_the_last_class():
    assert len(TABLES["class_mapping"]) == 19
    assert "tvmonitor" not in TABLES["class_mapping"]
    assert all(len(names) == 3 for names in TABLES["class_mapping"].values())


def test_every_disagreement_is_told():
    assert len(NOTES) == 7
