"""What a report reads runs again for: what other tools would say of them, and items that nobody judged."""

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import germane

from report_page import DIGITS, MEASURES, digits, embedded, of_digits, small, words
from sizes import set_sizes

QRELS = str(DIGITS / "qrels.txt")


def told(report: germane.types.Report) -> list[dict[str, tuple[str, ...]]]:
    """For each measure's table: dialect → the cells beside its name."""
    section = report.html.split('<section id="dialects">')[1].split("</section>")[0]
    tables = []
    for body in re.findall(r"<tbody>(.*?)</tbody>", section, re.DOTALL):
        rows = [
            re.findall(r"<td[^>]*>(?:<bdi>)?(.*?)(?:</bdi>)?</td>", row, re.DOTALL)
            for row in body.split("</tr>")
            if row
        ]
        rows = [row for row in rows if row]
        tables.append({name: tuple(row[1:]) for row in rows for name in row[0].split(", ")})
    return tables


@pytest.mark.slow
def test_other_tools_say_what_spread_says() -> None:
    tables = told(of_digits())
    assert len(tables) == len(MEASURES.split())
    for measure, table in zip(MEASURES.split(), tables, strict=True):
        first, second = (
            {row.dialect: row for one in germane.spread(QRELS, run, measure) for row in one.rows}
            for run in reversed(digits().values())  # the best run first
        )
        assert set(table) == {"germane", *first, *second}
        for name in sorted(
            {*first, *second}
        ):  # the list alone may be another value of one run alone
            told_of_all = name.removesuffix(" (list alone)")
            one, other = (rows.get(name, rows[told_of_all]) for rows in (first, second))
            assert name in (one.dialect, other.dialect)
            *values, moved, called = table[name]
            assert called == str(one.measure)
            assert values == [f"{each.value:.4f}".replace("nan", "none") for each in (one, other)]
            if said := one.says or other.says:  # why there is no value
                assert moved == said
                continue
            stages = {*one.stages, *other.stages}
            assert set(moved.split(", ")) == (stages or {"–"})


def test_rows_descend_and_germane_is_among_them() -> None:
    for table in told(of_digits()):
        values = [cells[0] for cells in table.values()]
        assert values == sorted(values, key=lambda value: value.replace("none", "-1"), reverse=True)
    assert "germane, xgboost 0.5346 0.4353 – AP" in words(of_digits())
    alone = "relevant items that are not in the list were not counted."
    assert alone in words(of_digits())


def test_a_convention_that_was_asked_for_holds_in_every_dialect() -> None:
    """b lacks one of two queries, and finds the other's first item: RR is 1/2, or 1 without it."""
    usual, asked = (told(small(measures="RR", **way))[0] for way in ({}, {"missing": "skip"}))
    assert usual["pytrec_eval"][1] == f"{1:.4f}"
    assert usual["ir_measures"][1] == usual["germane"][1] == f"{1 / 2:.4f}"
    assert usual["trec_eval-10"][:3] == (
        f"{1:.4f}",
        "none",
        "not in the run: 'q2' (1 of 2 judged queries)",
    )
    assert asked["ir_measures"][1] == asked["germane"][1] == f"{1:.4f}"


@pytest.mark.slow
def test_large_runs_are_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    set_sizes(monkeypatch, room=20_000)
    report = germane.report(QRELS, digits(), "RR")
    assert "Not here: lda ." in words(report)
    assert next(len(cells) for cells in told(report)[0].values()) == 3, "pixels, differs in, as"
    set_sizes(monkeypatch, room=1)
    assert 'id="dialects"' not in germane.report(QRELS, digits(), "RR").html


def test_what_can_be_read_once_only() -> None:
    table = pa.table({"query": ["q"], "item": ["d"], "score": [1.0]})
    runs: dict[str, Any] = {
        "stream": pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    }
    assert 'id="dialects"' not in germane.report({"q": {"d": 1}}, runs, "RR").html
    assert 'id="dialects"' in germane.report({"q": {"d": 1}}, {"table": table}, "RR").html


def test_no_tool_has_a_value() -> None:
    qrels, run = {"q": {"d": 0}}, {"q": {"d": 1.0}}
    undefined: dict[str, Any] = {"no_relevant": "nan", "undefined": "nan"}
    report = germane.report(qrels, {"a": run}, "AP", **undefined)
    assert 'id="dialects"' not in report.html
    assert "spread none … none" in str(germane.spread(qrels, run, "AP", **undefined))


def items(report: germane.types.Report, run: int = 0) -> list[list[str]]:
    """The rows of the first query's ranking: rank, item and grade."""
    [one] = embedded(report)["details"]["0"][run]
    return [row.split("\u00a0")[:3] for row in one["rows"].split("\n")]


@pytest.mark.parametrize("kind", ["scores", "list", "file"])
def test_unjudged_items_have_their_names(kind: str, tmp_path: Path) -> None:
    """u and v share their score, and the order of their ids is from the last to the first."""
    scores = {"u": 2.0, "v": 2.0, "d": 1.0, "w": 0.5}
    path = tmp_path / "a.run"
    path.write_text("".join(f"q Q0 {item} 0 {score} t\n" for item, score in scores.items()))
    runs: dict[str, Any] = {
        "scores": {"q": scores}, "list": {"q": ["v", "u", "d", "w"]}, "file": path
    }  # fmt: skip
    report = germane.report({"q": {"d": 1, "e": 1}}, {"a": runs[kind]}, "AP")
    assert items(report) == [["1", "v", "–"], ["2", "u", "–"], ["3", "d", "1"], ["4", "w", "–"]]


def test_the_first_ten_ranks_are_rows_of_their_own() -> None:
    run = {"q": [f"x{i}" for i in range(1, 61)]}
    qrels = {"q": {"x40": 1, "x3": 0}}
    rows = items(germane.report(qrels, {"a": run}, "AP"))
    assert rows[:10] == [[str(i), f"x{i}", "0" if i == 3 else "–"] for i in range(1, 11)]
    assert [row[0] for row in rows[10:]] == ["11–39", "40", "41–60"]


def test_unjudged_items_of_arrays_have_no_names() -> None:
    import numpy as np

    grades, scores = np.array([[0.0, 1.0, np.nan]]), np.array([[1.0, 2.0, 3.0]])
    data = embedded(germane.report(np.ma.masked_invalid(grades), {"a": scores}, "AP"))
    assert data["details"]["0"], "there are rankings"
