"""The pytest plug-in: two fixtures, and nothing that costs time where it is not used.

Outside the package, whose import brings NumPy into every test session.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from germane.comparison.gate import Gate


@pytest.fixture
def assert_no_regression() -> "Callable[..., Gate]":
    """``germane.assert_no_regression(qrels, run, measures, baseline=…, max_drop=…)``."""
    import germane

    checked: Any = germane.assert_no_regression
    return checked  # type: ignore[no-any-return]


@pytest.fixture
def assert_no_box_regression() -> "Callable[..., Gate]":
    """``germane.boxes.assert_no_regression(truth, detections, measures, baseline=…, floor=…)``."""
    import germane

    checked: Any = germane.boxes.assert_no_regression
    return checked  # type: ignore[no-any-return]
