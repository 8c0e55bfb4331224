"""Audit's program: what it refutes no run has, by enumeration here; what it allows a run has."""

import random
from collections.abc import Iterator, Mapping
from decimal import Decimal, getcontext
from fractions import Fraction
from itertools import product
from math import inf
from pathlib import Path

import numpy as np
import pytest

import germane
from check_certificates import TERM, compute_graded, evaluate_folder, find_fault, list_graded
from germane import cli
from germane.dialects.names import parse
from germane.forensics import audit as audit_module
from germane.forensics import list_program
from germane.forensics.certificates import find_bound
from germane.forensics.graded_lists import GradedLists
from germane.forensics.laws import PAIRS
from germane.forensics.list_program import Means, Program
from germane.forensics.list_values import Lists, bound_log2, make_list_measure
from germane.forensics.reported import Reading

pytest.importorskip("scipy")
getcontext().prec = 60
NINE = ["P@1", "P@5", "P@10", "R@5", "R@10", "AP(norm=R)@10", "RR@10", "Success@5", "nDCG@10"]


# --- another program: every list, in fractions ------------------------------------------------------


def log2(number: int) -> Fraction:
    return Fraction(Decimal(number).ln() / Decimal(2).ln())


def compute(name: str, hits: tuple[int, ...], relevant: int) -> Fraction:
    """The value of a list of 0 and 1, from the definitions in the books."""
    measure = parse(name)
    k, norm = measure.k or len(hits), dict(measure.parameters).get("norm")
    top = hits[:k]
    ranks = [i for i, hit in enumerate(top, 1) if hit]
    precisions = [Fraction(sum(hits[:i]), i) for i in range(1, k + 1)]
    least = min(relevant, k)
    match measure.name:
        case "P":
            return Fraction(sum(top), k)
        case "R":
            return Fraction(sum(top), least if norm == "min" else relevant)
        case "F":
            return Fraction(2 * sum(top), k + relevant)
        case "Rprec":
            return Fraction(sum(hits[:relevant]), relevant)
        case "Success":
            return Fraction(any(top))
        case "RR":
            return Fraction(1, ranks[0]) if ranks else Fraction()
        case "MeanP":
            return sum(precisions) / k
        case "AP":
            total = sum((precisions[i - 1] for i in ranks), Fraction())
            return total / {"R": relevant, "min": least, "k": k}[str(norm)]
        case _:
            last = least if measure.k else relevant
            ideal = sum((1 / log2(i + 1) for i in range(1, last + 1)), Fraction())
            total = sum((1 / log2(i + 1) for i in ranks), Fraction())
            return total if measure.name == "DCG" else total / ideal


def enumerate_lists(depth: int, most: int) -> Iterator[tuple[tuple[int, ...], int]]:
    for hits in product((0, 1), repeat=depth):
        for relevant in range(max(sum(hits), 1), most + 1):
            yield hits, relevant


def make_lists(names: list[str], depth: int, grades: int = 1) -> Lists:
    measures = [make_list_measure(Reading(parse(name)), depth, grades) for name in names]
    assert None not in measures
    return Lists(tuple(one for one in measures if one is not None), depth)


NAMES = [
    "P@1",
    "P@3",
    "R@4",
    "R(norm=min)@3",
    "AP@4",
    "AP(norm=R)@4",
    "AP(norm=k)@3",
    "RR@4",
    "Success@2",
    "nDCG@4",
    "MeanP@3",
    "F@3",
    "DCG@4",
]
OPEN = ["F@4", "Rprec", "nDCG", "AP", "RR"]
"""Of a list that may go on, or of which a line between two R is a bound."""


def test_values_are_those_of_the_books_and_of_germane() -> None:
    lists = make_lists(NAMES, 4)
    kinds = lists.enumerated
    rng = random.Random(3)
    for at in rng.sample(range(len(kinds.hits)), 25):
        hits, relevant = tuple(map(int, kinds.hits[at])), kinds.relevant[at]
        if relevant == inf:
            continue
        expected = [float(compute(name, hits, int(relevant))) for name in NAMES]
        assert kinds.low[at] == pytest.approx(expected, abs=1e-12)
        assert kinds.high[at] == pytest.approx(expected, abs=1e-12)
        mine = [germane.score(list(hits), name, relevant=int(relevant)) for name in NAMES]
        assert mine == pytest.approx(expected, abs=1e-12)


def test_logarithms_are_between_their_bounds() -> None:
    for number in (2, 3, 5, 8, 11, 101):
        low, high = bound_log2(number)
        assert low <= log2(number) + Fraction(1, 10**55)
        assert log2(number) <= high + Fraction(1, 10**55)
        assert high - low < Fraction(1, 10**17)


def test_bounds_are_those_of_all_lists() -> None:
    """A dynamic program over ranks and hits, against each list with up to 9 relevant items."""
    lists, rng = make_lists(NAMES, 4), random.Random(5)
    values = [[compute(name, *one) for name in NAMES] for one in enumerate_lists(4, 9)]
    for _ in range(40):
        places = rng.sample(range(len(NAMES)), rng.randint(1, 4))
        weights = {place: rng.choice((-5, -2, -1, 1, 3, 4)) for place in places}
        bound, is_exact = find_bound(lists, weights)
        highest = max(sum(w * row[p] for p, w in weights.items()) for row in values)
        assert highest <= bound
        up, down = np.zeros(len(NAMES)), np.zeros(len(NAMES))
        for place, weight in weights.items():
            (up if weight > 0 else down)[place] = abs(weight)
        reached = (lists.enumerated.high @ up - lists.enumerated.low @ down).max()
        assert float(bound) == pytest.approx(reached, abs=1e-12)
        assert lists._search(up, down, 5)[0] == pytest.approx(reached, abs=1e-12)
        assert is_exact == all("DCG" not in NAMES[place] for place in weights)


def test_lists_that_go_on_are_within_their_bounds() -> None:
    """Lists of 7 with up to 6 relevant items, of which the program sees four ranks."""
    for most in (inf, 5.0):
        measures = make_lists(OPEN, 4).measures
        lists, rng = Lists(measures, 4, most=most), random.Random(9)
        longest = [one for one in enumerate_lists(7, 6) if one[1] <= most]
        values = [[compute(name, *one) for name in OPEN] for one in longest]
        for _ in range(25):
            places = rng.sample(range(len(OPEN)), rng.randint(1, 3))
            weights = {place: rng.choice((-3, -2, -1, 1, 2, 3)) for place in places}
            bound, _ = find_bound(lists, weights)
            highest = max(sum(w * row[p] for p, w in weights.items()) for row in values)
            assert highest <= bound, weights
            up, down = np.zeros(len(OPEN)), np.zeros(len(OPEN))
            for place, weight in weights.items():
                (up if weight > 0 else down)[place] = abs(weight)
            assert lists._search(up, down, 5)[0] == pytest.approx(float(bound), abs=1e-12)
            reached = (lists.enumerated.high @ up - lists.enumerated.low @ down).max()
            assert float(bound) == pytest.approx(reached, abs=1e-12)


def test_graded_gains_are_within_their_bounds() -> None:
    lists, rng = make_lists(["nDCG@3", "nDCG(gain=exp)@4", "R@4"], 4, grades=3), random.Random(2)
    kinds = lists.enumerated
    place = {
        (tuple(map(int, h)), r): at
        for at, (h, r) in enumerate(zip(kinds.hits, kinds.relevant, strict=True))
    }
    names = ["nDCG@3", "nDCG(gain=exp)@4"]
    met: dict[str, list[float]] = {name: [] for name in names}
    at = place[(0, 1, 0, 1), 3.0]
    cases = [((0, 1, 0, 1), *grades) for grades in product((1, 2, 3), repeat=3)]
    for _ in range(60):
        relevant = rng.randint(1, 6)
        hits = [0] * 4
        for rank in rng.sample(range(4), rng.randint(0, min(4, relevant))):
            hits[rank] = 1
        cases.append((tuple(hits), *(rng.randint(1, 3) for _ in range(relevant))))
    for hits, *grades in cases:
        left = list(grades)
        ranked = {f"r{i}": left.pop(0) if hit else 0 for i, hit in enumerate(hits)}
        qrels = {"q": {**ranked, **{f"u{i}": grade for i, grade in enumerate(left)}}}
        result = germane.evaluate(qrels, {"q": list(ranked)}, names)
        kind = place[hits, float(min(len(grades), 4))]
        for m, name in enumerate(names):
            value = result[name].mean
            assert kinds.low[kind, m] - 1e-12 <= value <= kinds.high[kind, m] + 1e-12
            met[name] += [value] if kind == at else []
    for m, values in enumerate(met.values()):
        assert (min(values), max(values)) == pytest.approx((kinds.low[at, m], kinds.high[at, m]))


@pytest.mark.parametrize("identity", PAIRS, ids=lambda one: f"{one.first} {one.second} {one.says}")
def test_laws_written_by_hand_follow_from_the_program(identity: object) -> None:
    """Of two cutoffs each, under definitions that germane writes."""
    first, second, bound = identity.first, identity.second, identity.bound  # type: ignore[attr-defined]
    words = {
        "AP": ("", "(norm=R)", "(norm=k)"),
        "R": ("", "(norm=min)"),
        "nDCG": ("",),
        "F": ("",),
        "DCG": ("",),
    }
    tried = 0
    for j, k in product((1, 2, 4), repeat=2):
        for a, b in product(words.get(first, ("",)), words.get(second, ("",))):
            x, y = Reading(parse(f"{first}{a}@{j}")), Reading(parse(f"{second}{b}@{k}"))
            measures = [make_list_measure(one, 4, 1) for one in (x, y)]
            line = bound(x, y)
            if line is None or None in measures:
                continue
            tried += 1
            most = 4 if first == "F" else inf  # beyond, F is bounded by its tangent
            lists = Lists(tuple(m for m in measures if m is not None), 4, most=most)
            factor, offset = (Fraction(float(n)).limit_denominator(1000) for n in line)
            weights = {0: factor.denominator, 1: -factor.numerator}
            highest, _ = find_bound(lists, weights)
            slack = Fraction(1, 10**15) if first == "DCG" else 0  # of bounds of logarithms
            assert highest <= factor.denominator * offset + slack, (x, y)
    assert tried


# --- tables -----------------------------------------------------------------------------------------


def draw_row(
    rng: random.Random, names: list[str], relevant: int, digits: int = 4
) -> dict[str, str]:
    """The means of a random run, as they are printed."""
    qrels, run, skill = {}, {}, rng.uniform(0, 3)
    for q in range(rng.choice((10, 50, 120))):
        items = rng.randint(1, relevant)
        qrels[f"q{q}"] = {f"d{i}": 1 for i in range(items)}
        scores = {f"d{i}": rng.gauss(skill * (i < items), 1) for i in range(30)}
        run[f"q{q}"] = sorted(scores, key=scores.__getitem__, reverse=True)
    result = germane.evaluate(qrels, run, names)
    return {name: f"{result[name].mean:.{digits}f}" for name in names}


def slip(rng: random.Random, row: Mapping[str, str]) -> dict[str, str]:
    """Exchange a decimal of one number for another digit."""
    name = rng.choice(list(row))
    digits = list(row[name])
    at = rng.randrange(2, len(digits))
    digits[at] = rng.choice([digit for digit in "0123456789" if digit != digits[at]])
    return {**row, name: "".join(digits)}


@pytest.mark.filterwarnings("ignore")
def test_true_rows_are_not_accused_and_slips_are_refuted() -> None:
    """Of one relevant item for a query, as where one product was bought: most slips show."""
    rng = random.Random(8)
    rows = {f"{n}": draw_row(rng, NINE, most) for n, most in enumerate((1, 1, 2, 3, 30))}
    found = germane.audit(rows, grades=1)
    assert not found, str(found)
    assert set(found.decisions.values()) == {"possible"}
    single = {f"{n}": slip(rng, draw_row(rng, NINE, 1)) for n in range(10)}
    refuted = germane.audit(single, grades=1, dialect="trec_eval-10")
    assert len({one.row for one in refuted.contradictions}) >= 6


@pytest.mark.filterwarnings("ignore")
def test_certificates_hold_for_every_list_and_the_numbers_break_them() -> None:
    rng = random.Random(4)
    names = ["P@1", "P@3", "R@5", "AP(norm=R)@5", "RR@5", "Success@3", "nDCG@5"]
    lists = make_lists(names, 5)
    program = Program(lists)
    values = [[compute(name, *one) for name in names] for one in enumerate_lists(5, 12)]
    refuted = 0
    for _ in range(12):
        row = slip(rng, draw_row(rng, names, rng.choice((1, 3))))
        half = Fraction(1, 20000)
        numbers = [Fraction(text) for text in row.values()]
        certificate = program.refute(Means(
            {at: number - half for at, number in enumerate(numbers)},
            {at: number + half for at, number in enumerate(numbers)},
        ))  # fmt: skip
        if certificate is None:
            continue
        refuted += 1
        weights = dict(certificate.weights)
        assert (
            max(sum(w * one[at] for at, w in weights.items()) for one in values)
            <= certificate.bound
        )
        least = sum(w * (numbers[at] - half * (1 if w > 0 else -1)) for at, w in weights.items())
        assert least - certificate.bound == certificate.excess > 0
    assert refuted > 3


def test_what_is_printed_is_checked_by_another_program() -> None:
    """From the text alone; and the checker finds what is wrong with certificates that are."""
    row = {"P@1": "0.50", "Success@3": "0.90", "RR@5": "0.55", "nDCG@5": "0.60"}
    found = germane.audit({"ours": row}, grades=1, dialect="ranx", columns={n: n for n in row})
    laws = [one for one in found.contradictions if one.kind == "program"]
    assert laws
    for one in laws:
        assert not find_fault(one.law, row), one.law
    wrong = find_fault("2·P@1 + Success@5 ≤ 3·RR@5")
    assert wrong.startswith("(0, 0, 0, 0, 1) with 1 relevant items: 0.4 > 0.0")
    assert find_fault("nDCG@4 ≤ 0.9999999 + 0")
    assert "the numbers keep it" in find_fault("2·P@1 + Success@3 ≤ 3·RR@5", {**row, "RR@5": "0.7"})
    graded = {"nDCG@4": "0.2", "R@4": "0.9"}
    assert find_fault("R@4 ≤ 2·nDCG@4", graded, 3).startswith("[")
    assert not find_fault("nDCG@3 ≤ Success@3", None, 3)
    assert not find_fault("DCG@4 ≤ 2.5616064")
    assert find_fault("DCG@4 ≤ 2.5616063")


def test_a_law_that_nobody_wrote() -> None:
    """4·P@1 + Success@5 ≤ 5·RR@10: a first hit at rank r is worth 5/r, and 1 at most if r > 1."""
    row = {"P@1": "0.50", "Success@5": "0.90", "RR@10": "0.55"}
    (one,) = germane.audit(
        {"ours": row},
        dialect="ranx",
        columns={"P@1": "P@1", "Success@5": "Success@5", "RR@10": "RR@10"},
    ).contradictions
    assert one.law == "4·P@1 + Success@5 ≤ 5·RR@10"
    assert one.kind == "program"
    assert one.excess == pytest.approx(4 * 0.495 + 0.895 - 5 * 0.555, abs=1e-9)


def test_what_cannot_be_proved_is_not_said(monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"ours": {"P@1": "0.50", "Success@5": "0.90", "RR@10": "0.55"}}
    assert germane.audit(row, dialect="ranx")
    monkeypatch.setattr(list_program, "find_bound", lambda lists, weights: None)
    assert not germane.audit(row, dialect="ranx")
    monkeypatch.setattr(list_program, "find_bound", lambda lists, weights: (Fraction(10**6), True))
    assert not germane.audit(row, dialect="ranx")


def test_without_scipy_the_answer_says_what_was_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"ours": {"P@1": "0.50", "Success@5": "0.90", "RR@10": "0.55"}}
    monkeypatch.setattr(audit_module, "has_solver", lambda: False)
    found = germane.audit(row, dialect="ranx")
    assert not found
    assert not found.decisions
    assert "pip install 'germane[stats]'" in found.notes[-1]
    with pytest.raises(germane.errors.InputError, match="witness= needs SciPy: pip install"):
        germane.audit(row, witness="folder")


def test_graded_judgments_are_a_way_out_unless_the_grades_are_told() -> None:
    """With one hit at rank 1 of one relevant item nDCG is 1; a second one of a higher grade lowers it."""
    row = {"ours": {"P@1": "1.000", "R@1": "1.000", "nDCG@5": "0.500"}}
    found = germane.audit(row)
    assert not found
    assert found.decisions == {"ours": "restricted"}
    assert found.restrictions[0].possible.startswith("Not with judgments of 0 and 1")
    told = germane.audit(row, grades=1, dialect="ranx")
    assert told.decisions == {"ours": "impossible"}
    half = {"ours": {"P@1": "1.000", "R@5": "1.000", "nDCG@5": "0.700"}}
    assert germane.audit(half, grades=1, dialect="ranx")
    assert not germane.audit(half, grades=3, dialect="ranx")


def test_grades_are_checked() -> None:
    for wrong in (0, 11, True, 1.5):
        with pytest.raises(germane.errors.InputError, match="grades is the highest grade"):
            germane.audit({"ours": {"P@1": "0.5"}}, grades=wrong)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore")
def test_a_witness_has_the_printed_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["P@1", "P@5", "R@5", "AP@5", "RR@5", "nDCG@5"]
    row = draw_row(random.Random(2), names, 3, digits=3)
    table = tmp_path / "t.csv"
    table.write_text("run," + ",".join(names) + "\nour/../run," + ",".join(row.values()) + "\n")
    assert cli.main(["audit", str(table), "--witness", str(tmp_path / "out")]) == 0
    folder = tmp_path / "out" / "1-our-run"
    assert f"with these numbers are in {folder}." in capsys.readouterr().out
    result = germane.evaluate(folder / "judgments.txt", folder / "run.txt", names)
    assert {name: f"{result[name].mean:.3f}" for name in names} == row
    found = germane.audit(
        {"ours": {"P@1": "0.25", "RR@5": "0.50"}}, queries=4, witness=tmp_path / "four"
    )
    assert "a run of 4 queries with" in found.notes[-1]


GRADED = ["P@1", "R@5", "AP(norm=R)@5", "RR", "DCG@5", "nDCG@5", "nDCG(gain=exp)@3"]


def draw_graded(
    rng: random.Random, names: list[str], top: int, digits: int, most: int = 5
) -> dict[str, str]:
    """The means of a random run with graded judgments, as they are printed."""
    qrels, run, skill = {}, {}, rng.uniform(0, 3)
    for q in range(rng.choice((5, 10, 50, 200))):
        grades = [rng.randint(1, top) for _ in range(rng.randint(1, most))] + [0] * 30
        qrels[f"q{q}"] = {f"d{i}": grade for i, grade in enumerate(grades)}
        scores = {f"d{i}": rng.gauss(skill * grade, 1) for i, grade in enumerate(grades)}
        run[f"q{q}"] = sorted(scores, key=scores.__getitem__, reverse=True)
    result = germane.evaluate(qrels, run, names)
    return {name: f"{result[name].mean:.{digits}f}" for name in names}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("top", "digits"), [(1, 3), (4, 5)])
def test_a_witness_has_grades(tmp_path: Path, top: int, digits: int) -> None:
    """Another program reads its files, and finds the printed numbers."""
    row = draw_graded(random.Random(top), GRADED, top, digits)
    own = {name: name for name in row}
    found = germane.audit({"ours": row}, grades=top, columns=own, witness=tmp_path)
    assert found.decisions == {"ours": "possible"}
    means = evaluate_folder(tmp_path / "1-ours", row)
    assert {name: f"{value:.{digits}f}" for name, value in means.items()} == row
    levels = {
        int(line.split()[-1])
        for line in (tmp_path / "1-ours" / "judgments.txt").read_text("utf-8").splitlines()
    }
    assert max(levels) == top
    notes = " ".join(found.notes)
    if top == 1:
        assert "This assumes judgments of 0 and 1, and any number of relevant items" in notes
    else:
        linear, exponential = (
            "0, 1, 2, 3, 4 in 'DCG@5', 'nDCG@5'",
            "0, 1, 3, 7, 15 in 'nDCG(gain=exp)@3'",
        )
        assert f"grades from 0 to 4 (gains {linear}; {exponential}; other columns count" in notes


@pytest.mark.filterwarnings("error")
def test_a_witness_has_as_many_queries_as_are_told_and_one_folder_for_a_heading(
    tmp_path: Path,
) -> None:
    row = {"DL19 / P@1": "0.600", "DL19 / nDCG@5": "0.5833", "DL20 / P@1": "0.400"}
    row |= {"DL20 / nDCG@5": "0.2100"}
    found = germane.audit({"ours": row}, 10, grades=3, witness=tmp_path)
    for name, values in (("DL19", ("0.600", "0.5833")), ("DL20", ("0.400", "0.2100"))):
        means = evaluate_folder(tmp_path / f"1-ours-{name}", ("P@1", "nDCG@5"))
        assert (f"{means['P@1']:.3f}", f"{means['nDCG@5']:.4f}") == values
    assert "a run of 10 queries with these numbers are in" in found.notes[-1]


def test_columns_of_a_higher_grade_are_held_against_each_other() -> None:
    names = {"P@1": "P(rel=2)@1", "Success@5": "Success(rel=2)@5", "RR@10": "RR(rel=2)@10"}
    row = {"P@1": "0.50", "Success@5": "0.90", "RR@10": "0.55", "nDCG@10": "0.40"}
    (law,) = germane.audit({"ours": row}, columns=names, grades=3, dialect="ranx").contradictions
    assert law.law == "4·P@1 + Success@5 ≤ 5·RR@10"
    right = {**row, "RR@10": "0.60"}
    found = germane.audit({"ours": right}, columns=names, grades=3, dialect="ranx")
    assert found.decisions == {"ours": "open"}
    assert found.notes[0].startswith("Undecided: 'ours'. No inequality rules the numbers out")
    mixed = {**names, "RR@10": "RR@10"}  # which counts more items than the others
    assert not germane.audit({"ours": row}, columns={**mixed, "P@1": "P@1"}, grades=3)


def test_columns_that_the_program_does_not_take_are_named() -> None:
    row = {"P@1": "0.500", "RR@10": "0.600", "nDCG@10": "0.550", "ERR@10": "0.300"}
    found = germane.audit({"ours": row}, columns={name: name for name in row}, relevant=30)
    assert found.decisions == {"ours": "possible"}
    assert found.notes == (
        "A run can have all numbers of these rows: 'ours'.",
        "This assumes judgments of 0 and 1, as no highest grade was given, and at most 30 relevant items for each query.",
        "It leaves out 'ERR@10', to which only the laws of two or three columns apply.",
    )


def test_graded_lists_are_worth_what_germane_computes_and_the_best_are_not_exceeded() -> None:
    """All short lists with up to three relevant items beside them, against those that are found."""
    names = ["P@1", "R@3", "RR@3", "nDCG@3", "nDCG(gain=exp)@2", "DCG@3"]
    readings = [Reading(parse(name)) for name in names]
    lists = GradedLists.make(readings, make_lists(names, 3, grades=3), 3, 3, (4.0, 5.0, 6.0))
    assert lists is not None
    cases = [case for case in list_graded(random.Random(1), 3, 3) if case[1]]
    values = np.array(
        [
            [
                compute_graded(*TERM.match(name).groups("")[1:3], parse(name).k, *case)
                for name in names
            ]  # type: ignore[union-attr]
            for case in cases
        ]
    )
    rng, shortfall = np.random.default_rng(5), []
    for _ in range(60):
        weights = rng.integers(-3, 4, len(names)).astype(float)
        worth, kinds = lists.price(np.maximum(weights, 0), np.maximum(-weights, 0))
        for hits, relevant, low in zip(kinds.hits, kinds.relevant, kinds.low, strict=True):
            judged = np.repeat(range(3, 0, -1), relevant[::-1]).tolist()
            at = cases.index((hits.tolist(), judged)) if (hits.tolist(), judged) in cases else -1
            assert at < 0 or low == pytest.approx(values[at])
        shortfall.append((values @ weights).max() - worth)
    assert np.max(shortfall) < 0.35
    assert np.mean(np.array(shortfall) > 1e-9) < 0.3


@pytest.mark.filterwarnings("ignore")
def test_deep_lists_are_searched_by_ranks_and_hits() -> None:
    """Up to rank 30, where lists are too many to enumerate."""
    rng = random.Random(6)
    names = ["P@5", "R@30", "AP(norm=R)@30", "RR@10", "nDCG@30"]
    rows = {f"{n}": draw_row(rng, names, 8) for n in range(2)}
    found = germane.audit(rows, grades=1, dialect="trec_eval-10")
    assert not found, str(found)
    wrong = {"wrong": {**rows["0"], "AP(norm=R)@30": "0.0123"}}
    refuted = germane.audit(wrong, grades=1, dialect="trec_eval-10")
    assert refuted.decisions == {"wrong": "impossible"}


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(4))
def test_no_row_of_many_is_accused(seed: int) -> None:
    """Whatever is told of it, and in however many decimals."""
    rng = random.Random(seed)
    for _ in range(100):
        names = rng.sample(
            [*NINE, "AP@10", "AP(norm=R)", "RR", "nDCG@5", "R@30", "MeanP@5"], rng.randint(2, 10)
        )
        row = draw_row(rng, names, rng.choice((1, 2, 4, 30)), digits=rng.randint(2, 5))
        dialect = None if "AP@10" in names else rng.choice((None, "trec_eval-10"))
        found = germane.audit({"true": row}, grades=rng.choice((None, 1, 3)), dialect=dialect)
        assert not found, str(found)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(4))
def test_no_graded_row_of_many_is_accused_and_witnesses_are_right(
    seed: int, tmp_path: Path
) -> None:
    """Of another program, which reads the files. Most rows have a witness."""
    rng, witnesses = random.Random(seed), 0
    for number in range(125):
        gain, top = rng.choice(("", "(gain=exp)")), rng.choice((3, 4))
        kinds = ("P", "R", "AP(norm=R)", "RR", "Success", "F", f"DCG{gain}", f"nDCG{gain}")
        cutoffs = rng.sample((1, 3, 5, 10, 20, 100), rng.randint(1, 3))
        names = [f"{kind}@{k}" for kind in kinds for k in cutoffs] + ["RR", "AP", f"nDCG{gain}"]
        names = [*rng.sample(names[:-1], rng.randint(2, 8)), f"nDCG{gain}@{cutoffs[0]}"]
        digits = rng.randint(2, 5)
        row = draw_graded(rng, list(dict.fromkeys(names)), top, digits, rng.choice((1, 3, 30)))
        folder = tmp_path / str(number)
        found = germane.audit(
            {"true": row}, grades=top, columns={name: name for name in row},
            witness=folder if number % 5 == 0 else None,
        )  # fmt: skip
        assert not found, str(found)
        if folder.exists():
            witnesses += 1
            means = evaluate_folder(folder / "1-true", row)
            half = 0.5 * 10**-digits + 1e-9
            assert all(abs(means[name] - float(text)) <= half for name, text in row.items())
    assert witnesses > 15
