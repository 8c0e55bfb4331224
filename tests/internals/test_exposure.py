"""Counts per item, which batches add up to, exactly."""

import numpy as np

from germane.core.catalogue import Exposure, Lists, join_exposures


def test_exposures_of_parts_add_up() -> None:
    rng = np.random.default_rng(0)
    sizes = rng.integers(0, 5, 30)
    offsets = np.append(0, np.cumsum(sizes))
    lists = Lists(offsets, rng.integers(0, 9, offsets[-1]))
    whole = Exposure.of_lists(lists, 9, True)
    first = Exposure.of_lists(Lists(offsets[:12], lists.items[: offsets[11]]), 7, True)
    rest = Exposure.of_lists(Lists(offsets[11:] - offsets[11], lists.items[offsets[11] :]), 9, True)
    merged = join_exposures([join_exposures([]), first, rest])
    for name in ("counts", "sizes", "by_size"):
        np.testing.assert_array_equal(getattr(merged, name), getattr(whole, name))
    for power in (0.5, 1.0):
        np.testing.assert_array_equal(merged.sum_shares(power), whole.sum_shares(power))
    turned = whole.renumber(np.arange(9)[::-1], 9)
    np.testing.assert_array_equal(turned.counts, whole.counts[::-1])
    np.testing.assert_allclose(turned.sum_shares(1.0), whole.sum_shares(1.0)[::-1], rtol=1e-15)
