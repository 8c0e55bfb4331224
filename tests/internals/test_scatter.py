"""The axes of the scatter of accuracy and variety."""

import numpy as np
import pytest

from germane.reports.scatter import choose_ticks


@pytest.mark.parametrize(
    "values", [[0.5], [0.0], [0.1, 0.13], [-3.0, 1e4], [2.0, 2.0001], [0.875, 1.0]]
)
def test_axes_hold_their_values_between_round_ticks(values: list[float]) -> None:
    ticks = choose_ticks(values)
    assert ticks[0] <= min(values) <= max(values) <= ticks[-1]
    assert 2 <= len(ticks) <= 8
    steps = np.diff(ticks)
    assert steps == pytest.approx(steps[0])
