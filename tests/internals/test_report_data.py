"""The values of a page are packed without losing any."""

import numpy as np

from germane.reports import page_data

from report_page import unpacked


def test_whole_large_negative_and_missing_values() -> None:
    column = [[0.0, 5.0, float("nan")], [70_000.0, -3.0, 2.0]]
    for values in (np.array(column), np.array(column) / 16, np.array(column) * 1e12):
        scale, packed = page_data._pack(values)
        queries = ["q1", "q2", "q3"]
        shown = unpacked(
            {
                "measures": [{"name": "m", **scale}],
                "runs": ["a", "b"],
                "queries": queries,
                "values": [packed],
            }
        )["m"]
        assert list(shown["a"]) == ["q1", "q2"], "the third has no value"
        got = [[float(shown[run].get(query, "nan")) for query in queries] for run in ("a", "b")]
        exact = 5e-5 if np.nanmax(np.abs(values)) < 1e6 else 5e-5 * np.nanmax(np.abs(values))
        assert np.allclose(got, values, rtol=0, atol=exact, equal_nan=True)
    scale, _ = page_data._pack(np.array(column))
    assert scale["digits"] == 0, "counts are written as counts"
