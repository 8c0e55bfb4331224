"""Detectors compared: shares of images, tests, intervals, the gate, and what is refused."""

import random

import numpy as np
import pytest

import germane
from boxes_sets import make_boxes

NAMES = (
    "AP50 AP(iou=.5,points=all) AR AR@1 P(confidence=.3) F(confidence=.3) AP(iou=.75,area=medium)"
)


def thin_out(found, share, seed=0):
    draws = random.Random(seed)
    return [one for one in found if draws.random() < share]


def repeat_images(truth, found, times):
    """Repeat each image as often as ``times`` says; the images are numbered anew."""
    images, annotations, detections = [], [], []
    for one in truth["images"]:
        for _ in range(times[one["id"]]):
            number = len(images) + 1
            images.append({"id": number})
            annotations += [
                {**a, "image_id": number}
                for a in truth["annotations"]
                if a["image_id"] == one["id"]
            ]
            detections += [{**d, "image_id": number} for d in found if d["image_id"] == one["id"]]
    for number, one in enumerate(annotations, 1):
        one["id"] = number
    return {**truth, "images": images, "annotations": annotations}, detections


@pytest.mark.parametrize("seed", range(6))
def test_the_mean_of_shares_is_the_number(seed):
    truth, found = make_boxes(seed, "floats")
    both = {"all": found, "some": thin_out(found, 0.7)}
    compared = germane.boxes.compare(truth, both, NAMES)
    for name, found in both.items():
        result = germane.boxes.evaluate(truth, found, NAMES)
        for measure in result:
            assert compared.means[measure][name] == pytest.approx(result[measure].mean, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_shares_are_what_an_image_changes(seed):
    """One copy more of an image, beside 40 of each, changes the number by a 40th of its derivative.

    A comparison with a detector that finds nothing has the shares themselves as its differences.
    """
    truth, found = make_boxes(seed, "floats")
    many = dict.fromkeys((one["id"] for one in truth["images"]), 40)
    for name in ("AP(iou=.5,points=all)", "AR@10", "P(confidence=.3)", "F(confidence=.3)"):
        plain = germane.boxes.evaluate(truth, found, name)[name].mean
        shares = germane.boxes.compare(
            *repeat_images(truth, found, many)[:1],
            {"none": [], "all": repeat_images(truth, found, many)[1]},
            name,
        ).queries(name, "all", "none")
        assert list(shares.to_pandas())[1] == "image"
        of_image = {row.query: row.difference for row in shares.rows}
        agree = []
        for number, one in enumerate(truth["images"]):
            more = repeat_images(truth, found, {**many, one["id"]: 41})
            change = germane.boxes.evaluate(*more, name)[name].mean - plain
            expected = (of_image[40 * number + 1] - plain) / len(of_image)
            agree.append(change == pytest.approx(expected, rel=0.15, abs=3e-5))
        # equal precisions at two ranks have a maximum without a derivative
        assert sum(agree) >= len(agree) - 2 * name.startswith("AP"), name


def test_a_better_detector_is_found_and_noise_is_not():
    truth, found = make_boxes(11, "floats")
    truth, found = repeat_images(
        truth, found, dict.fromkeys((o["id"] for o in truth["images"]), 20)
    )
    half = {"whole": found, "half": thin_out(found, 0.5)}
    pair = germane.boxes.compare(truth, half, "AP50", baseline="half").pairs[0]
    assert pair.significant
    assert pair.interval.low > 0
    assert "is significantly better than half by" in str(pair)
    alike = {"one": thin_out(found, 0.7, 1), "other": thin_out(found, 0.7, 2)}
    pair = germane.boxes.compare(truth, alike, "AP50").pairs[0]
    assert pair.verdict == "not significant"
    assert f"smallest detectable difference with {len(truth['images'])} images" in str(pair)


def test_copies_of_images_narrow_the_interval():
    """Four times the images halve an interval, as for means."""
    truth, found = make_boxes(11, "floats")
    both = {"whole": found, "half": thin_out(found, 0.5)}
    widths = []
    for times in (20, 80):
        many = dict.fromkeys((one["id"] for one in truth["images"]), times)
        sets = {name: repeat_images(truth, one, many) for name, one in both.items()}
        pair = germane.boxes.compare(
            sets["whole"][0], {name: one for name, (_, one) in sets.items()}, "AP50"
        ).pairs[0]
        widths.append(pair.interval.high - pair.interval.low)
    assert widths[0] / widths[1] == pytest.approx(2, rel=0.05)


def test_rare_classes_are_told_of():
    truth, found = make_boxes(11, "floats")
    both = {"whole": found, "half": thin_out(found, 0.5)}
    assert "Rare classes: " in str(germane.boxes.compare(truth, both, "AP50"))
    many = dict.fromkeys((one["id"] for one in truth["images"]), 30)
    truth, found = repeat_images(truth, found, many)
    both = {"whole": found, "half": thin_out(found, 0.5)}
    assert "Rare classes" not in str(germane.boxes.compare(truth, both, "AP50"))


def test_results_are_compared_as_they_are():
    truth, found = make_boxes(5, "floats")
    results = germane.boxes.evaluate_many(truth, {"a": found, "b": thin_out(found, 0.6)}, "AP AP50")
    compared = germane.boxes.compare(results)
    again = germane.boxes.compare(truth, {"a": found, "b": thin_out(found, 0.6)})
    assert [pair.to_dict() for pair in compared.pairs] == [pair.to_dict() for pair in again.pairs]
    assert compared.between("b", "a", "AP50").unit == "image"
    assert np.isfinite(compared.stability("AP").tau)


def test_the_gate():
    truth, found = make_boxes(11, "floats")
    many = dict.fromkeys((one["id"] for one in truth["images"]), 20)
    truth, found = repeat_images(truth, found, many)
    same = germane.boxes.gate(truth, found, baseline=found)
    assert same.passed
    fell = germane.boxes.gate(truth, thin_out(found, 0.5), baseline=found)
    assert fell.verdicts == {"AP": "fell", "AP50": "fell"}
    assert germane.boxes.gate(truth, thin_out(found, 0.5), baseline=found, max_drop=0.9).passed


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda t, d: germane.boxes.compare(t, {"a": d}), "compare needs at least two detectors"),
        (lambda t, d: germane.boxes.compare(t, {}), "detections are a mapping from names to detections"),
        (lambda t, d: germane.boxes.compare(t, {"a": d, "b": d}, baseline="c"), "there is no baseline 'c'"),
        (lambda t, d: germane.boxes.compare({**t, "annotations": []}, {"a": d, "b": d}), "no class has a truth"),
        (lambda t, d: germane.boxes.gate(t, d, baseline=d, max_drop=-1), "max_drop takes a number from 0"),
        (
            lambda t, d: germane.boxes.compare(
                {name: germane.boxes.evaluate(t, d, "AP", name=name) for name in "ab"}
            ),
            "not evaluated with the same truths",
        ),
    ],
)  # fmt: skip
def test_what_is_refused(call, says):
    truth, found = make_boxes(5)
    with pytest.raises(germane.GermaneError, match=r".") as error:
        call(truth, found)
    assert says in str(error.value)


# --- Class by class -----------------------------------------------------------------------------------


def make_classes(seed):
    """Two detectors on 40 images of two classes; a third class is in nine images."""
    rng = np.random.default_rng(seed)
    truth, found = [], {"a": [], "b": []}
    for place in range(40):
        labels = ["cat", "dog", "cow"][: 2 + (place < 9)]
        boxes = [[100 * i, 0, 100 * i + 50, 50] for i in range(len(labels))]
        truth.append({"boxes": boxes, "labels": labels})
        for name, chance in (("a", 0.9), ("b", 0.5)):
            seen = [i for i in range(len(labels)) if i == 0 or rng.random() < chance]
            moved = [[x + rng.integers(9), y, z, w] for x, y, z, w in (boxes[i] for i in seen)]
            scores = rng.random(len(seen)).tolist()
            found[name].append(
                {"boxes": moved, "labels": [labels[i] for i in seen], "scores": scores}
            )
    return truth, found


def test_each_class_is_compared_and_corrected():
    """A class is compared as AP50(class=…) is, and Holm counts the classes."""
    truth, found = make_classes(0)
    made = germane.boxes.compare(truth, found, "AP50 R50", by="class", baseline="a")
    assert list(made.segments) == ["cat", "dog"]
    assert "'cow'" in str(made.segments.table())
    p = {}
    for label, segment in made.segments.items():
        for measure in ("AP50", "R50"):
            named = f"{measure}(class={label})"
            [pair] = [one for one in segment.pairs if str(one.measure) == measure]
            [alone] = germane.boxes.compare(truth, found, named, baseline="a").pairs
            assert pair.difference == pytest.approx(alone.difference)
            assert pair.p == pytest.approx(alone.p)
            p[measure, label] = pair
    for measure in ("AP50", "R50"):
        low, high = sorted((p[measure, label] for label in ("cat", "dog")), key=lambda one: one.p)
        assert low.p_adjusted == pytest.approx(min(2 * low.p, 1))
        assert high.p_adjusted == pytest.approx(max(high.p, low.p_adjusted))
    assert p["R50", "dog"].verdict == "significant"
    assert made.segments.to_arrow().column_names[0] == "class"


def test_no_class_with_enough_images():
    truth, found = make_classes(0)
    few = {name: rows[:5] for name, rows in found.items()}
    with pytest.raises(germane.errors.EmptyError, match="no class has truths in 10 images"):
        germane.boxes.compare(truth[:5], few, by="class")
    with pytest.raises(germane.errors.PolicyError, match="by"):
        germane.boxes.compare(truth, found, by="image")
