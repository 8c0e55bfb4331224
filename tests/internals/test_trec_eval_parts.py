"""The parts of the stand-in for trec_eval: its table of measures, numbers as C reads them, and judgments."""

import re
from pathlib import Path

import pytest

from germane import parse
from germane.trec_eval import judgments, scores
from germane.trec_eval.command_line import (
    MEASURES,
    NICKNAMES,
    Options,
    merge_sort,
    parse_real,
    parse_whole,
    truncate,
)

from test_trec_eval_command import CASES
from trec_names import TREC_10_NAMES, TREC_NAMES


def test_the_recorded_cases_hold_every_measure_flag_and_end() -> None:
    """What no case prints is not checked by the test above."""
    printed = {
        line.split()[0].removeprefix("Z") for c in CASES for line in c["output"].splitlines()
    }
    for name, row in MEASURES.items():
        pattern = re.compile(re.escape(name) + {"nothing": ""}.get(row.takes, r"(_.*)?"))
        assert any(map(pattern.fullmatch, printed)), name
    flags = " ".join(flag for c in CASES for flag in c["flags"])
    assert all(flag in flags for flag in ("-q", "-c", "-n", "-J", "-M", "-N", "-l", "-D", "-R"))
    assert any("zscores" in c for c in CASES)
    assert {c["status"] for c in CASES} == {0, 1, 2, 4, 7, 255}
    assert any("-nan" in c["output"] for c in CASES)


def test_there_are_57_measures_and_six_nicknames() -> None:
    assert len(MEASURES) == 57
    assert [len(names) for names in NICKNAMES.values()] == [12, 11, 37, 16, 8, 5]


@pytest.mark.parametrize("name", [name for name, row in MEASURES.items() if row.germane])
def test_germanes_name_of_a_measure_is_one(name: str) -> None:
    row = MEASURES[name]
    assert ("{}" in row.germane) == (row.takes in ("cutoffs", "levels"))
    for argument in row.default or (None,):
        assert parse(row.germane.format(argument)).row.name in row.germane


@pytest.mark.parametrize("printed", sorted(TREC_NAMES))
def test_names_are_those_the_values_were_recorded_under(printed: str) -> None:
    """test_trec_eval holds these to recorded values, each with its reason where the two differ."""
    name = printed if printed in MEASURES else printed.rpartition("_")[0]
    row = MEASURES[name]
    number = printed.removeprefix(name).removeprefix("_")
    argument = (int(number) if row.takes == "cutoffs" else float(number)) if number else ""
    ours = parse(row.germane.format(argument))
    theirs = parse({**TREC_NAMES, **TREC_10_NAMES}[printed])
    assert ours == theirs


@pytest.mark.parametrize(
    ("text", "number"),
    [("12", 12), (" -3x", -3), ("+4.9", 4), ("x", 0), ("1_0", 1), ("9" * 30, 2**63 - 1)],
)
def test_whole_numbers_as_c_reads_them(text: str, number: int) -> None:
    assert parse_whole(text.encode()) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1.5e2x", 150),
        ("-.5", -0.5),
        ("high", 0),
        ("0x1p-1", 0.5),
        ("-InFinity", -float("inf")),
        ("-0x1p1024", -float("inf")),
        ("1e400", float("inf")),
    ],
)
def test_real_numbers_as_c_reads_them(text: str, number: float) -> None:
    assert parse_real(text.encode()) == number


def test_differences_that_no_whole_number_holds_are_the_least_of_them() -> None:
    """So 1e10, which is greater by far, stands before 1; an order of three is not made by pairs."""
    assert merge_sort([1e10, 1.0], lambda one, other: one - other) == [1e10, 1.0]
    assert merge_sort([1.0, 1e10], lambda one, other: one - other) == [1.0, 1e10]
    assert merge_sort([3.0, 2.5, 1.0], lambda one, other: one - other) == [1.0, 3.0, 2.5]
    assert truncate(-2.9) == -2
    assert truncate(float("nan")) == truncate(1e30) == truncate(-1e30) == -(2**63)


_MANY = "".join(f"q{i % 3} 0 item-{i * 7919 % 1000} {i % 5 - 2}\n" for i in range(60))


@pytest.mark.parametrize(
    "text", [_MANY, _MANY.replace(" ", "\t"), _MANY.replace("\n", "\r\n"), _MANY[:-1]]
)
def test_judgments_are_sorted_by_query(tmp_path: Path, text: str) -> None:
    path = tmp_path / "qrels"
    path.write_bytes(text.encode())
    expected: dict[bytes, dict[str, float]] = {}
    for line in text.split("\n"):
        if line:
            query, _, item, grade = line.split()
            expected.setdefault(query.encode(), {})[item] = float(grade)
    found, twice = judgments.read_grades(Options(qrels=str(path)))
    assert not twice
    of_query = {
        query: {found.items[j]: found.grades[j] for j in range(*found.offsets[q : q + 2])}
        for q, query in enumerate(found.queries)
    }
    assert of_query == expected
    assert list(of_query) == sorted(expected)


@pytest.mark.parametrize(
    ("line", "grade"),
    [
        ("q 0 d 1.5", 1),
        ("q 0 d -1.5", -1),
        ("q 0 d 1e1", 1),
        ("q 0\vd\r7x", 7),
        ("q 0 d 99999999999", 99999999999),
        ("# one comment\nq 0 d 3", 3),
        ("# one comment\n#q 0 d 3", 3),
    ],
)
def test_a_grade_is_as_much_of_its_field_as_is_a_number(
    tmp_path: Path, line: str, grade: float
) -> None:
    path = tmp_path / "qrels"
    path.write_bytes(f"{line}\n".encode())
    found, _ = judgments.read_grades(Options(qrels=str(path)))
    assert list(found.grades) == [grade]


def test_an_item_that_is_judged_twice_is_found(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_text("a 0 d 1\nb 0 d 1\nb 0 d 2\n")
    assert judgments.read_grades(Options(qrels=str(path)))[1] == {1: b"d"}


def test_gains_less_than_1_apart_keep_their_order() -> None:
    """0.7 - 0.5 is 0 as a whole number: the two count as equal, and so do both and 0."""
    found = scores.sort_by_gain([(1, 0.7), (2, 0.5)], range(3))
    assert [(gain.grade, gain.worth) for gain in found] == [(1, 0.7), (2, 0.5), (0, 0.0)]
    found = scores.sort_by_gain([(1, 3.0), (2, 2.0)], range(3))
    assert [(gain.grade, gain.worth) for gain in found] == [(0, 0.0), (2, 2.0), (1, 3.0)]
