"""Verdicts: no output calls a difference significant beside an interval that contains 0."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import germane
from boxes_sets import make_boxes
from germane import cli

TESTS = ("randomization", "t", "wilcoxon", "sign", "tukey")
INTERVAL = re.compile(r"\[([-+]?[\d.]+(?:e-\d+)?), ([-+]?[\d.]+(?:e-\d+)?)\]")
DISAGREE = (
    r"p (?:=|<) [\d.e-]+, but the interval contains 0: not called significant",
    r"the interval excludes 0, but p (?:=|<) [\d.e-]+: not called significant",
    r"p (?:=|<) [\d.e-]+, but there is no interval: not called significant",
    r"p (?:=|<) [\d.e-]+, but the test favors the lower mean: not called significant",
)


def draw_hits(chance: np.random.Generator, queries: int, world: str) -> dict[str, Any]:
    """Draw how many of the first 20 results are relevant, for two systems on so many queries.

    In the skewed world, nine differences in ten are -1 and the tenth is 9, so that their mean is 0.
    """
    before = chance.integers(2, 11, queries)
    change = {
        "skewed": np.where(chance.random(queries) < 0.1, 9, -1),
        "equal": chance.integers(-3, 4, queries),
        "better": chance.integers(-1, 5, queries),
        "rare": np.where(chance.random(queries) < 0.2, 5, 0),
        "opposed": np.where(chance.random(queries) < 0.3, -2, 1),
    }[world]
    return {"old": before, "new": np.clip(before + change, 0, 20)}


NOTE = {
    "interval": r"p < 0\.05, but (the interval contains 0|there is no interval)\.",
    "test": r"the interval excludes 0, but p ≥ 0\.05\.|p < 0\.05, but the test favors the lower mean\.",
}
WORLDS = ("skewed", "equal", "better", "rare", "opposed")


def make_data(hits: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Make judgments, and a run for each system with as many relevant items in front."""
    queries = len(next(iter(hits.values())))
    qrels = {f"q{q}": [f"d{i}" for i in range(20)] for q in range(queries)}
    runs = {
        name: {
            f"q{q}": [f"{'d' if i < n else 'x'}{i}" for i in range(20)] for q, n in enumerate(of)
        }
        for name, of in hits.items()
    }
    return qrels, runs


def draw_comparisons(cases: int) -> Iterator[tuple[str, Any, Any, germane.types.Comparison]]:
    """Draw worlds of all kinds and sizes, compared by all tests: test, qrels, runs, comparison."""
    chance = np.random.default_rng(7)
    for case in range(cases):
        queries = int(chance.choice((3, 5, 6, 8, 12, 20, 30, 60)))
        hits = draw_hits(chance, queries, WORLDS[case % len(WORLDS)])
        if case % 3 == 0:
            hits["third"] = draw_hits(chance, queries, "equal")["new"]
        qrels, runs = make_data(hits)
        test: Any = TESTS[case // len(WORLDS) % len(TESTS)]
        yield test, qrels, runs, germane.compare(qrels, runs, "P@20 AP", test=test, resamples=200)


def check_text(text: str) -> None:
    """Check that every line with an interval claims significance only if that excludes 0."""
    for line in text.replace("<li", "\n<li").splitlines():
        for low, high in INTERVAL.findall(line):
            if float(low) <= 0 <= float(high):
                assert "significantly" not in line, line


def check_pair(pair: Any) -> str:
    """Check a pair's verdict against p and interval, and return the kind of disagreement."""
    excludes = pair.interval is not None and not pair.interval.low <= 0 <= pair.interval.high
    rejects = pair.p_adjusted < pair.alpha
    assert pair.significant == (pair.verdict == "significant")
    assert not pair.significant or (excludes and rejects)
    assert ("significantly" in pair.sentence) == pair.significant
    check_text(pair.sentence)
    says = [bool(re.search(pattern, pair.sentence)) for pattern in DISAGREE]
    assert sum(says) == (excludes != rejects or (pair.is_opposed and excludes and rejects))
    assert (pair.held_back_by is not None) == any(says)
    plain = pair.to_dict()
    assert (plain["significant"], plain["verdict"]) == (pair.significant, pair.verdict)
    assert plain["held_back_by"] == pair.held_back_by
    if not any(says):
        return "agree"
    assert pair.verdict == ("inconclusive" if rejects or pair.limit else "not significant")
    assert pair.held_back_by == ("test" if says[1] or says[3] else "interval")
    return DISAGREE[says.index(True)]


def test_no_output_contradicts_its_interval() -> None:
    pytest.importorskip("scipy")
    kinds: dict[str, int] = {}
    for _, _, _, comparison in draw_comparisons(75):
        names = {system: place for place, system in enumerate(comparison.systems)}
        board, pairs = comparison.leaderboard(), comparison.table()
        expected: dict[Any, set[str]] = {}
        for pair, row in zip(comparison.pairs, pairs.rows, strict=True):
            kind = check_pair(pair)
            kinds[kind] = kinds.get(kind, 0) + 1
            cells = dict(zip(pairs.columns, row, strict=True))
            assert cells["verdict"] == pair.verdict
            if pair.significant:
                assert float(cells["low"]) * float(cells["high"]) > 0
                better, worse = pair.system, pair.baseline
                if pair.difference < 0:
                    better, worse = worse, better
                column = 2 + comparison.measures.index(pair.measure)
                expected.setdefault((names[better], column), set()).add("abc"[names[worse]])
            elif pair.held_back_by:  # said below every table, which has no sentences
                for table in (board, pairs):
                    assert any(
                        note.startswith(pair.verdict.capitalize() + ": ")
                        and re.search(NOTE[pair.held_back_by], note)
                        for note in table.notes
                    )
        assert {place: set(letters) for place, letters in board.marks.items()} == expected
        marked = len(expected)
        assert comparison.latex().count("textsuperscript") == marked
        assert comparison.markdown().count("<sup>") == marked
        assert comparison.leaderboard().html().count("<sup>") == marked
        for text in (str(comparison), comparison.markdown(), comparison.latex(), comparison.html(), comparison._repr_html_()):  # fmt: skip
            check_text(text)
            assert ("significantly beats" in text) <= bool(marked)
        verdicts = pa.table(comparison)["verdict"].to_pylist()
        assert verdicts == [pair.verdict for pair in comparison.pairs]
    assert kinds.keys() >= {"agree", *DISAGREE[:2]}, "the worlds have every kind"
    assert sum(kinds.values()) - kinds["agree"] > 12


def test_few_queries_without_an_interval_are_not_called_significant() -> None:
    pytest.importorskip("scipy")
    qrels, runs = make_data({"old": [1, 2, 3, 4], "new": [11, 12, 13, 15]})
    [pair] = germane.compare(qrels, runs, "P@20", test="t").pairs
    assert (pair.interval, pair.p < 0.001, pair.verdict) == (None, True, "inconclusive")
    assert check_pair(pair) == DISAGREE[2]


def test_a_test_of_ranks_may_favor_the_lower_mean() -> None:
    """45 of 60 queries gain a little, and 15 lose much: the sign test favors the lower mean."""
    pytest.importorskip("scipy")
    hits = {"old": [15] * 60, "new": [16] * 45 + [5 - q % 5 for q in range(15)]}
    for test in ("sign", "wilcoxon"):
        qrels, runs = make_data(hits)
        [pair] = germane.compare(qrels, runs, "P@20", test=test).pairs
        assert pair.difference < 0
        if test == "sign":
            assert pair.p < 0.001
            assert pair.interval is not None
            assert pair.interval.high < 0
            assert check_pair(pair) == DISAGREE[3]
        else:
            check_pair(pair)


def test_an_end_beside_0_is_not_printed_as_0() -> None:
    """A printed interval that contains 0 beside the word significant would contradict it."""
    for queries in (400, 4000):
        hits = {"old": [10] * queries, "new": [10 + (q % 3 == 0) - (q % 4 == 1) for q in range(queries)]}  # fmt: skip
        qrels, runs = make_data(hits)
        comparison = germane.compare(qrels, runs, "P@20")
        for digits in (1, 2, 3, 4):
            table = comparison.table(digits=digits)
            cells = dict(zip(table.columns, table.rows[0], strict=True))
            assert cells["verdict"] == "significant"
            assert float(cells["low"]) > 0


def test_a_plot_fills_the_points_of_significant_differences() -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    pytest.importorskip("scipy")
    filled = 0
    for _, _, _, comparison in draw_comparisons(25):
        figure, ax = plt.subplots()
        comparison.plot(ax, measure="P@20")
        pairs = sorted(
            (pair for pair in comparison.pairs if str(pair.measure) == "P@20"),
            key=lambda pair: -abs(pair.difference),  # drawn from the lower mean to the higher one
        )
        points = [line for line in ax.lines if line.get_marker() == "o"]
        for pair, point, text in zip(pairs, points, ax.texts, strict=True):
            is_filled = point.get_markerfacecolor() == point.get_color()
            assert point.get_xdata()[0] == abs(pair.difference)
            assert is_filled == pair.significant
            filled += is_filled
            for low, high in INTERVAL.findall(text.get_text()):
                assert not (is_filled and float(low) <= 0 <= float(high))
        plt.close(figure)
    assert filled


def test_a_gate_calls_a_drop_significant_as_compare_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A drop with p < alpha fails it in any case; the word for it depends on the interval, too."""
    pytest.importorskip("scipy")
    monkeypatch.chdir(tmp_path)
    seen = set()
    for case, (test, qrels, runs, _) in enumerate(draw_comparisons(50)):
        run, baseline = (runs["new"], runs["old"])[:: 1 if case % 2 else -1]
        options: Any = {"baseline": baseline, "test": test, "resamples": 200}
        found = germane.gate(qrels, run, "P@20 AP", **options)
        assert found.passed == (not {"fell", "inconclusive"} & {*found.verdicts.values()})
        for pair in found.comparison.pairs:
            check_pair(pair)
            verdict = found.verdicts[str(pair.measure)]
            seen.add((verdict, pair.held_back_by))
            assert (verdict == "fell") == (pair.significant and pair.difference < 0)
            if pair.difference < 0:
                fails = pair.p_adjusted < pair.alpha or pair.limit is not None
                assert (verdict in ("fell", "inconclusive")) == fails
        for sentence in found.sentences:
            check_text(sentence)
        for row in found.table().rows:
            if row[-1] == "fell":
                assert float(row[4]) * float(row[5]) > 0
        if not found.passed:
            with pytest.raises(germane.errors.RegressionError) as raised:
                germane.assert_no_regression(qrels, run, "P@20 AP", **options)
            check_text(str(raised.value))
    assert seen >= {("fell", None), ("noise", None), ("inconclusive", "interval"), ("passed", None)}
    qrels, runs = make_data({"old": [10] * 12, "new": [9] * 12})
    for name, data in {"qrels": qrels, **runs}.items():
        Path(f"{name}.json").write_text(json.dumps(data))
    asked = ["gate", "qrels.json", "new.json", "--baseline", "old.json", "-m", "P@20", "--github"]
    assert cli.main([*asked, "--format", "json", "-o", "gate.json"]) == 1
    written = json.loads(Path("gate.json").read_text())
    assert (written["verdicts"], written["passed"]) == ({"P@20": "inconclusive"}, False)
    assert written["pairs"][0]["held_back_by"] == "interval"
    printed = capsys.readouterr().out
    assert "and test and interval disagree about it: old" in printed.replace("baseline", "old")
    check_text(printed)


def test_a_report_says_what_compare_says() -> None:
    pytest.importorskip("scipy")
    seen = set()
    for test, qrels, runs, comparison in draw_comparisons(25):
        page = germane.report(qrels, runs, "P@20 AP", test=test, resamples=200).html
        text = re.sub(r"<[^>]*>", "", page.replace("\n<small>", " "))
        check_text(text)
        for pair in comparison.pairs:
            reason = pair.explain_disagreement()
            seen.add(pair.held_back_by)
            assert not reason or reason.replace("<", "&lt;") in text
        items = re.findall(r'<li class="(sure|noise)">(.*)', page)
        assert len(items) == len(comparison.pairs)
        for pair, (kind, sentence) in zip(comparison.pairs, items, strict=True):
            assert (kind == "sure") == ("significantly" in sentence) == pair.significant
        [lead] = re.findall(r'<p class="answer">(.*?)</p>', page)
        claims = [pair for pair in comparison.pairs if ", a statistically significant" in lead]
        assert not claims or any(pair.significant for pair in claims)
    assert seen >= {None, "interval"}


def test_detectors_are_judged_as_runs_are() -> None:
    """Shares of images are skewed and few: the page and the gate of boxes follow the same rule."""
    kinds = set()
    for seed in range(6):
        truth, found = make_boxes(seed, "floats")
        chance = np.random.default_rng(seed)
        some = [one for one in found if chance.random() < 0.3 + 0.05 * seed]
        compared = germane.boxes.compare(truth, {"all": found, "some": some}, "AP50 AR P(confidence=.3)")  # fmt: skip
        kinds |= {check_pair(pair) for pair in compared.pairs}
        check_text(str(compared) + compared.markdown() + compared.latex())
        check_text(re.sub(r"<[^>]*>", "", germane.boxes.report(truth, {"all": found, "some": some}).html))  # fmt: skip
        gate = germane.boxes.gate(truth, some, "AP50 AR", baseline=found)
        for pair in gate.comparison.pairs:
            check_pair(pair)
            assert (gate.verdicts[str(pair.measure)] == "fell") == (pair.significant and pair.difference < 0)  # fmt: skip
    assert "agree" in kinds
