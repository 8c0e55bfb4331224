"""Explanations of results, and of lists of which only a part is shown."""

import math
from pathlib import Path

import pytest

import germane
from germane.explanation.explain import explain_result
from germane.explanation.explanation import Rank, Ranks


def test_a_result_whose_queries_came_in_another_order(tmp_path: Path) -> None:
    """The file has the queries in its own order, and results know their ranks all the same."""
    path = tmp_path / "run.txt"
    path.write_text("q2 Q0 x 1 3 t\nq2 Q0 c 2 2 t\nq2 Q0 b 3 1 t\nq1 Q0 a 1 1 t\n")
    result = germane.evaluate({"q1": {"a": 1}, "q2": {"b": 1, "c": 1}}, path, "AP")
    shown = {q: explain_result(result, q, (germane.AP,)).readings[0].value for q in ("q1", "q2")}
    assert shown == result["AP"].per_query == {"q1": 1, "q2": (1 / 2 + 2 / 3) / 2}


@pytest.mark.slow
def test_only_what_is_shown_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of half a million hits: a thousand rows for people, and a formula of a dozen terms."""
    made: list[int] = []
    rank_of = Ranks._make_rank

    def counted(rows: Ranks, row: int) -> Rank:
        made.append(row)
        return rank_of(rows, row)

    monkeypatch.setattr(Ranks, "_make_rank", counted)
    explanation = germane.explain([1, 0] * 500_000, "AP RR")
    assert len(explanation.rows) == 1_000_000
    assert len(made) < 100
    rows = explanation.table().rows
    assert len(made) < 1500
    assert rows[499][:2] == ("500", "0")
    assert rows[500] == ("… 999,000 rows",) + ("…",) * 8
    assert rows[501][:2] == ("999501", "1")
    total = math.fsum((i + 1) / (2 * i + 1) for i in range(500_000))
    assert rows[-2][-4:] == ("500000/999999", f"{total:.4f}", "0", "1.0000")
    assert "; 499997 more ranks differ" in explanation.differences[0]
