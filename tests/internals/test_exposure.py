"""Counts per item, which batches add up to."""

import numpy as np

from germane.core.catalogue import Exposure, Lists


def test_exposures_of_parts_add_up() -> None:
    rng = np.random.default_rng(0)
    sizes = rng.integers(0, 5, 30)
    offsets = np.append(0, np.cumsum(sizes))
    lists = Lists(offsets, rng.integers(0, 9, offsets[-1]))
    whole = Exposure.of_lists(lists, 9)
    first = Exposure.of_lists(Lists(offsets[:12], lists.items[: offsets[11]]), 9)
    rest = Exposure.of_lists(Lists(offsets[11:] - offsets[11], lists.items[offsets[11] :]), 9)
    merged = Exposure.nothing().merge(first).merge(rest)
    for name in ("counts", "shares", "norms", "sizes"):
        np.testing.assert_allclose(getattr(merged, name), getattr(whole, name), rtol=1e-12)
