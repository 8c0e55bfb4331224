"""A record is data from somebody else: no part of it can be changed without a word about it."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import germane

from strategies import WORDS

QUERIES = [f"q{number}" for number in range(6)]
QRELS = {query: {"d": 2, "e": 1, "n": 0} for query in QUERIES}
RUN = {
    query: {"d": 0.5, "x": 0.9 - at % 3, "e": 0.5 if at % 2 else 0.3, "n": 0.1}
    for at, query in enumerate(QUERIES)
}
MEASURES = "AP@10 DCG RR"
EXCLUDED = {"q1": ["x"]}
FREE = ("name", "comments", "asked_as", "findings", "unjudged_queries")
"""Parts that nothing else has: names, counts of a file's form, and what germane warned of."""


def make_record() -> dict[str, Any]:
    result = germane.evaluate(QRELS, RUN, MEASURES, exclude=EXCLUDED, name="a")
    made = result.to_dict(queries=True)
    return json.loads(json.dumps(made))  # type: ignore[no-any-return]


RECORD = make_record()


def list_leaves(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(part, dict | list) and part:
        for key in part if isinstance(part, dict) else range(len(part)):
            yield from list_leaves(part[key], (*path, key))
    else:
        yield path


def list_changes(old: Any) -> list[Any]:
    """Other values of the kind, and what no part can be."""
    others = [
        float("nan"),
        float("inf"),
        -float("inf"),
        -1,
        True,
        [3],
        {"a": 1},
        "\x1b]52;c;eA==\x07",
    ]
    if isinstance(old, str):
        return [*others, old[:-1], f"{old}0", ""]
    if isinstance(old, int | float) and not isinstance(old, bool):
        return [*others, old + 1, old / 2 + 0.01, str(old), 1e300]
    return [*others, 0.5]


def change(path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    record = copy.deepcopy(RECORD)
    part: Any = record
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    return record


def verify(record: Any, **options: Any) -> str:
    """What is said of the record; nothing where it is accepted."""
    try:
        found = germane.verify(record, QRELS, RUN, exclude=EXCLUDED, **options)
    except germane.GermaneError as error:
        return str(error)
    assert bool(found) == found.same == (not found.differences)
    return "" if found else "\n".join(found.differences)


def test_the_record_itself_is_fine(tmp_path: Path) -> None:
    assert verify(RECORD) == ""
    (tmp_path / "r.json").write_text(json.dumps(RECORD))
    assert germane.read_results(tmp_path / "r.json")["a"]["AP@10"].mean > 0


LEAVES = [path for path in list_leaves(RECORD) if not {*FREE} & {*path}]


@pytest.mark.parametrize("path", LEAVES, ids=lambda path: ".".join(map(str, path)))
def test_no_part_can_be_changed(path: tuple[Any, ...], tmp_path: Path) -> None:
    part: Any = RECORD
    for key in path:
        part = part[key]
    for value in list_changes(part):
        if path == ("germane",) and isinstance(value, str):
            continue  # another version has definitions of its own; its signatures say which
        says = verify(change(path, value))
        assert says, (path, value)


NUMBERS = [path for path in LEAVES if path[-1] in ("mean", "best", "worst") or "queries" in path]


@pytest.mark.parametrize("path", NUMBERS, ids=lambda path: ".".join(map(str, path)))
@pytest.mark.parametrize("text", ["-1e999", "1e999", "NaN", "-Infinity", "-3.5", "17", '"0.5"'])
def test_no_number_of_a_baseline_can_be_changed(
    path: tuple[Any, ...], text: str, tmp_path: Path
) -> None:
    written = json.dumps(change(path, "HERE")).replace('"HERE"', text)
    (tmp_path / "r.json").write_text(written)
    unbounded = text in ("17", "-3.5") and path[-1] in ("best", "worst") and path[3] == 1
    for read in (
        lambda: germane.read_results(tmp_path / "r.json"),
        lambda: germane.gate(QRELS, RUN, "AP@10", baseline=tmp_path / "r.json", exclude=EXCLUDED),
    ):
        if unbounded:
            continue
        with pytest.raises(germane.errors.FormatError, match=r"runs\[0\]\.") as caught:
            read()
        if path[-1] == "DCG" and text in ("17", "-3.5"):  # which has no lowest and highest value
            assert "measures[1].mean: " in str(caught.value)
            continue
        assert str(path[3] if "queries" in path else path[2]) in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"best":', '"best": 0.25, "best":', r"runs\[0\]\.measures\[0\] has the key 'best' twice"),
        ('"policy":', '"policy": {}, "policy":', "a record has the key 'policy' twice"),
        ('"q3":', '"q3": {}, "q3":', r"runs\[0\]\.queries has the key 'q3' twice"),
        ('"q3": {', '"q3": {"MAP@10": 0.5, ', r"runs\[0\]\.queries\['q3'\]: AP@10 occurs twice"),
        ('"q3": {', '"q3": {"P@1": 0.5, ', r"queries\['q3'\]: P@1 is not among the measures"),
        ('"measure": "RR"', '"measure": "MAP@10"', r"measures\[2\]: AP@10 occurs twice"),
        ('"runs": [', '"runs": [RUN, ', r"runs\[1\]\.name: there are two runs named 'a'"),
        ('"judged": 6', '"judged": 7', r"runs\[0\]\.counts\.judged: 7"),
    ],
)
def test_contradictions_have_a_place(old: str, new: str, says: str, tmp_path: Path) -> None:
    written = json.dumps(RECORD)
    assert old in written
    new = new.replace("RUN", json.dumps(RECORD["runs"][0]))
    (tmp_path / "r.json").write_text(written.replace(old, new, 1))
    with pytest.raises(germane.errors.FormatError, match=says):
        germane.read_results(tmp_path / "r.json")
    path = str(tmp_path / "r.json")
    assert verify(path)


def test_a_part_of_a_fingerprint_is_none(tmp_path: Path) -> None:
    for name in ("judgments", "run", "exclude"):
        path = ("runs", 0, "fingerprints", name)
        for length in (0, 4, 16, 31):
            whole = RECORD["runs"][0]["fingerprints"][name]
            says = verify(change(path, whole[:length]))
            assert f"runs[0].fingerprints.{name} is 32 hexadecimal digits" in says


def test_values_that_somebody_left_out_are_missed(tmp_path: Path) -> None:
    """Hard queries that are left out of a baseline, with means and counts that fit."""
    record = copy.deepcopy(RECORD)
    [run] = record["runs"]
    kept = dict(list(run["queries"].items())[:3])
    run["queries"] = kept
    run["counts"] |= {"judged": 3, "answered": 3, "without_relevant": 0}
    for part in run["measures"]:
        del part["signature"], part["best"], part["worst"]
        part["mean"] = sum(row[part["measure"]] for row in kept.values()) / 3
    (tmp_path / "r.json").write_text(json.dumps(record))
    assert "judged" in verify(record)
    with pytest.raises(germane.errors.InputError, match="3 queries"):
        germane.gate(QRELS, RUN, "AP@10", baseline=tmp_path / "r.json", exclude=EXCLUDED)


def test_a_cut_signature_says_what_was_not_compared() -> None:
    signature = str(germane.evaluate(QRELS, RUN, "AP@10").signature("AP@10"))
    whole = germane.verify(signature, QRELS, RUN)
    assert whole
    assert not whole.notes
    assert "the same values, data and definitions" in str(whole)
    begin = signature.index(", qrels")
    for end in (begin, begin + 5, signature.index(", run"), signature.index(", run") + 11):
        found = germane.verify(signature[:end], QRELS, RUN)
        assert any("not compared" in note for note in found.notes) == (
            "run " not in signature[:end]
        )
        assert found.notes
        assert "values, data" not in str(found)


# --- Records of germane itself -------------------------------------------------------------------


def list_policies() -> Iterator[dict[str, Any]]:
    for name, words in WORDS.items():
        for word in words:
            yield {name: word}
    yield from ({"depth": 2}, {"ties": "expected", "depth": 3}, {"missing": "skip", "depth": 1})
    yield from ({"dialect": name} for name in germane.dialects())


@pytest.mark.parametrize(("turn", "policy"), [*enumerate(list_policies())], ids=str)
@pytest.mark.filterwarnings("ignore")
def test_records_of_germane_never_contradict_themselves(turn: int, policy: dict[str, Any]) -> None:
    """Each policy with a sixth of the measures, in turns."""
    qrels = {**QRELS, "empty": {"n": 0}, "lost": {"d": 1}}
    run = {**RUN, "empty": {"n": 1.0}, "other": {"d": 1.0}}
    accepted = 0
    for name in [*germane.measures()][turn % 6 :: 6]:
        try:
            result = germane.evaluate(qrels, run, name, **policy)
            record = result.to_dict(queries=True)
        except germane.GermaneError:
            continue
        record = json.loads(json.dumps(record))
        found = germane.verify(record, qrels, run)
        assert not found.differences, (name, found.differences)
        accepted += 1
    assert accepted or policy


@pytest.mark.filterwarnings("ignore")
def test_a_record_has_the_queries_of_all_measures() -> None:
    """Of which one leaves out queries that another counts."""
    for dialect in germane.dialects().values():
        names = list(dict.fromkeys(map(str, dialect.names(3))))
        for listed in (names, names[::-1]):
            try:
                result = germane.evaluate(
                    {**QRELS, "lost": {"d": 1}}, RUN, listed, dialect=dialect.name
                )
                record = json.loads(json.dumps(result.to_dict(queries=True)))
            except germane.GermaneError:
                continue
            found = germane.verify(record, {**QRELS, "lost": {"d": 1}}, RUN)
            assert not found.differences, (dialect.name, found.differences)


def test_measures_of_all_lists_are_not_computed_from_queries(tmp_path: Path) -> None:
    result = germane.evaluate(QRELS, RUN, "Gini@2", catalogue=["d", "e", "n", "x"])
    (tmp_path / "r.json").write_text(json.dumps(result.to_dict(queries=True)))
    with pytest.raises(germane.errors.InputError, match="is about all lists, judged or not"):
        germane.read_results(tmp_path / "r.json")


def test_verdicts_are_true_or_false() -> None:
    worse = {query: {"x": 1.0, "d": 0.5} for query in QUERIES}
    assert not germane.gate(QRELS, worse, "RR", baseline={query: {"d": 1.0} for query in QUERIES})
    assert germane.gate(QRELS, worse, "RR", baseline=worse)
