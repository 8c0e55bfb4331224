"""The drawn sets of boxes: each trait is there, and recorded answers belong to the sets of today."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from boxes_sets import RARE, TRAITS, Detections, Truth, draw_traits, make_boxes

RECORDED = json.loads((Path(__file__).parent / "data" / "boxes.json").read_text("utf-8"))
Check = Callable[[Truth, Detections], bool]


def list_sizes(truth: Truth, found: Detections) -> list[tuple[float, float]]:
    return [tuple(row["bbox"][2:]) for row in (*truth["annotations"], *found)]


def list_coordinates(truth: Truth, found: Detections) -> list[float]:
    return [x for row in (*truth["annotations"], *found) for x in row["bbox"]]


def count_places(rows: list[dict[str, Any]]) -> int:
    """The most boxes of one class in one image."""
    return max(Counter((row["image_id"], row["category_id"]) for row in rows).values())


def list_ids(rows: list[dict[str, Any]], key: str = "id") -> list[int]:
    return [row[key] for row in rows]


SEEN: dict[str, Check] = {
    "dyadic": lambda t, d: (
        {x % 1 > 0 for x in list_coordinates(t, d)} == {True, False}
        and all(x * 8 % 1 == 0 for x in list_coordinates(t, d))
    ),
    "floats": lambda t, d: any(x * 8 % 1 for x in list_coordinates(t, d)),
    "tied scores": lambda t, d: len(set(list_ids(d, "score"))) <= 8,
    "equal scores": lambda t, d: len(set(list_ids(d, "score"))) == 1,
    "low scores": lambda t, d: 0 < sum(x < 0.001 for x in list_ids(d, "score")) < len(d),
    "crowds": lambda t, d: {row["iscrowd"] for row in t["annotations"]} == {0, 1},
    "ignored": lambda t, d: {row["ignore"] for row in t["annotations"]} == {0, 1},
    "difficult": lambda t, d: {row["difficult"] for row in t["annotations"]} == {0, 1},
    "own areas": lambda t, d: any(
        row["area"] != row["bbox"][2] * row["bbox"][3] for row in t["annotations"]
    ),
    "area borders": lambda t, d: {32**2, 96**2} <= {row["area"] for row in t["annotations"]},
    "id zero": lambda t, d: 0 in list_ids(t["annotations"]),
    "no size": lambda t, d: any(0 in size for size in list_sizes(t, d)),
    "empty images": lambda t, d: 60 in list_ids(d, "image_id") and 61 in list_ids(t["images"]),
    "truthless class": lambda t, d: (
        11 not in list_ids(t["annotations"], "category_id") and 11 in list_ids(d, "category_id")
    ),
    "missed class": lambda t, d: (
        13 in list_ids(t["annotations"], "category_id") and 13 not in list_ids(d, "category_id")
    ),
    "deep": lambda t, d: count_places(d) > 100 and list_ids(d, "image_id").count(17) > 300,
    "many truths": lambda t, d: count_places(t["annotations"]) >= 45,
    "shuffled": lambda t, d: list_ids(t["images"]) != sorted(list_ids(t["images"])),
    "unknown class": lambda t, d: 99 in list_ids(d, "category_id"),
    "unknown image": lambda t, d: 999 in list_ids(d, "image_id"),
    "no truths": lambda t, d: not t["annotations"] and bool(d),
    "no detections": lambda t, d: bool(t["annotations"]) and not d,
}


@pytest.mark.parametrize("trait", TRAITS)
def test_each_trait_is_there_when_asked_for_and_not_otherwise(trait: str) -> None:
    assert SEEN[trait](*make_boxes(1, [trait]))
    plain = make_boxes(1)
    if trait in ("ignored", "difficult"):
        assert not any(trait.removesuffix("d") in row for row in plain[0]["annotations"])
    else:
        assert not SEEN[trait](*plain)


def test_scores_without_ties_are_exact_in_single_precision() -> None:
    scores = list_ids(make_boxes(5, "deep, low scores")[1], "score")
    assert len(set(scores)) == len(scores)
    assert all(score * 2**24 % 1 == 0 for score in scores)


def test_an_unknown_trait_is_refused() -> None:
    with pytest.raises(ValueError, match="crowd"):
        make_boxes(1, "crowd")


def test_every_usual_trait_is_drawn() -> None:
    drawn = {trait for seed in range(60) for trait in draw_traits(seed)}
    assert drawn >= TRAITS.keys() - set(RARE)


@pytest.mark.parametrize("name", RECORDED["sets"])
def test_recorded_answers_belong_to_the_sets_of_today(name: str) -> None:
    entry = RECORDED["sets"][name]
    data = json.dumps([*make_boxes(entry["seed"], entry["traits"])])
    assert hashlib.sha256(data.encode()).hexdigest() == entry["sha256"]
    assert entry["answers"].keys() <= RECORDED["versions"].keys()
