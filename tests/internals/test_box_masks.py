"""Masks inside: their outlines, their run lengths, and the extra that reads them."""

import sys
from unittest import mock

import numpy as np
import pytest

import germane
from germane.boxes import masks as masks_module
from germane.boxes.masks import trace


def test_without_pycocotools_the_error_names_the_extra() -> None:
    masks_module.load_code.cache_clear()
    truth = {
        "images": [{"id": 1, "width": 20, "height": 20}],
        "categories": [{"id": 1, "name": "person"}],
        "annotations": [
            {"id": 1, "image_id": 1, "category_id": 1, "segmentation": [[1, 1, 9, 1, 9, 9]]}
        ],
    }
    with (
        mock.patch.dict(sys.modules, {"pycocotools": None, "pycocotools.mask": None}),
        pytest.raises(germane.errors.InputError, match=r"germane\[masks\]"),
    ):
        germane.boxes.evaluate(truth, [], overlap="mask")


@pytest.mark.parametrize("seed", range(5))
def test_outlines_go_around_all_pixels(seed: int) -> None:
    mask = np.random.default_rng(seed).random((9, 12)) < 0.6
    area = 0.0
    corners = 0
    for loop in trace(mask):
        x, y = np.array(loop).T
        area += (x * np.roll(y, -1) - np.roll(x, -1) * y).sum() / 2
        corners += len(loop)
    # a corner that turns right loses 1/8 of a pixel, and one that turns left gains it
    assert abs(area - mask.sum()) <= corners / 8 + 1e-9


def test_run_lengths_that_do_not_add_up_are_found() -> None:
    pytest.importorskip("pycocotools")
    rng = np.random.default_rng(0)
    codes = []
    for _ in range(100):
        shape = rng.integers(1, 90, 2).tolist()
        codes += masks_module.encode_array((rng.random(shape) < rng.random())[None])
    masks = masks_module.join_masks(codes)
    assert len(masks_module.find_broken_masks(masks)) == 0
    masks.size[7, 0] += 1
    assert masks_module.find_broken_masks(masks).tolist() == [7]
