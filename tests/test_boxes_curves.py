"""Curves of classes: every point against evaluate at that confidence, areas against AP, and pictures."""

import json
import math
from typing import Any

import numpy as np
import pytest

import germane
from boxes_sets import draw_traits, make_boxes
from germane.errors import MeasureError

OPTIONS: Any = {"unknown": "ignore"}


@pytest.mark.parametrize("seed", range(8))
def test_every_point_is_what_evaluate_gives(seed: int) -> None:
    truth, found = make_boxes(seed, draw_traits(seed))
    frame = germane.boxes.curve(truth, found, **OPTIONS).to_arrow().to_pydict()
    columns = ("class", "confidence", "precision", "recall", "f1")
    points = list(zip(*(frame[name] for name in columns), strict=True))[:: max(1, seed)]
    scores = {score for _, score, *_ in points}
    names = {
        (part, score): f"{part}(iou=.5,confidence={score!r})" for part in "PRF" for score in scores
    }
    result = germane.boxes.evaluate(truth, found, list(names.values()), **OPTIONS)
    for label, score, *values in points:
        for part, value in zip("PRF", values, strict=True):
            wanted = result[names[part, score]]
            number = wanted.mean if label is None else wanted.per_class[label]
            assert value == pytest.approx(number), (label, score, part)


@pytest.mark.parametrize("name", ["AP50", "AP75(area=small)", "AP60(depth=3)"])
def test_the_area_is_ap(name: str) -> None:
    truth, found = make_boxes(4, "floats, crowds")
    made = germane.boxes.curve(truth, found, name)
    wanted = germane.boxes.evaluate(truth, found, name)[name]
    assert dict(zip(made.classes, made.precision_at.mean(axis=1), strict=True)) == pytest.approx(
        wanted.per_class
    )
    assert (made.value, made.per_class) == (wanted.mean, wanted.per_class)


@pytest.mark.parametrize("seed", range(8))
def test_no_confidence_is_better(seed: int) -> None:
    truth, found = make_boxes(seed, "floats, tied scores")
    made = germane.boxes.curve(truth, found)
    frame = made.to_arrow().to_pydict()
    for label, point in {**made.best, None: made.best_of_all}.items():
        rows = [i for i, name in enumerate(frame["class"]) if name == label]
        assert point.f1 == max(frame["f1"][i] for i in rows)
        name = f"F(iou=.5,confidence={point.confidence!r})"
        value = germane.boxes.evaluate(truth, found, name)[name]
        number = value.mean if label is None else value.per_class[label]
        assert number == pytest.approx(point.f1)
    expected = {label: point.confidence for label, point in made.best.items()}
    assert germane.boxes.evaluate(truth, found, "AP75 AR@10").best_confidence == expected


def test_answers() -> None:
    truth, found = make_boxes(4, "floats")
    made = germane.boxes.curve(truth, found)
    assert str(made).count("\nall ") == 1
    assert json.loads(json.dumps(made.to_dict()))["best_of_all"]["f1"] == made.best_of_all.f1
    none = germane.boxes.curve(truth, [])
    assert [point.f1 for point in none.best.values()] == [0.0] * len(none.classes)
    empty = germane.boxes.curve({**truth, "annotations": []}, found)
    assert (empty.classes, math.isnan(empty.best_of_all.f1)) == ([], True)
    with pytest.raises(MeasureError, match="AP is a mean over 10 thresholds of overlap"):
        germane.boxes.curve(truth, found, "AP")


def test_pictures(tmp_path: Any) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    truth, found = make_boxes(4, "floats, crowds")
    made = germane.boxes.curve(truth, found)
    made.plot()
    panels = pyplot.gcf().axes[1:]
    steps = panels[1].lines[0].get_xydata()
    assert np.all(np.diff(steps[:, 0]) <= 0)
    [text] = panels[1].texts
    assert text.get_text() == f"{made.best_of_all.f1:.3f} at {made.best_of_all.confidence:g}"
    assert panels[0].lines[-1].get_ydata() == pytest.approx(made.precision_at.mean(axis=0))
    for detections, name in ((found, "some.png"), ([], "none.svg")):
        germane.boxes.curve(truth, detections).save(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000
