"""The laws of audit, on all short lists."""

from itertools import product

import germane
from germane.reconciliation.column_names import Reading
from germane.reconciliation.identities import PAIRS

import oracle


def list_lists() -> list[list[int]]:
    return [list(one) for n in (1, 2, 4, 6) for one in product((0, 1), repeat=n)]


def test_every_law_holds_of_every_short_list() -> None:
    """Each inequality under each pair of norms that it accepts, of all lists of up to six results."""
    cutoffs = (1, 2, 3, 5, 10)
    names = {one.first for one in PAIRS} | {one.second for one in PAIRS}
    readings = [
        Reading(germane.parse(f"{name}{norm}@{k}"))
        for name in sorted(names)
        for norm in {
            "AP": ("(norm=R)", "", "(norm=found)", "(norm=k)", "(norm=possible)"),
            "R": ("", "(norm=min)", "(norm=possible)"),
            "P": ("", "(norm=retrieved)"),
        }.get(name, ("",))
        for k in cutoffs
    ]
    cases = [(grades, missed) for grades in list_lists() for missed in (0, 1, 7)]

    def compute(one: Reading) -> list[float]:
        arguments = {name: value for name, value in one.parameters.items() if name != "mean"}
        return [
            oracle.value(one.measure.name, arguments, one.measure.k, [f"d{i}" for i in range(len(grades))],
                {f"d{i}": grade for i, grade in enumerate(grades)} | {f"m{i}": 1 for i in range(missed)})
            for grades, missed in cases
        ]  # fmt: skip

    values = {one: compute(one) for one in readings}
    used = set()
    for law in PAIRS:
        for a, b in product(readings, readings):
            if (a.measure.name, b.measure.name) != (law.first, law.second):
                continue
            line = law.bound(a, b)
            if line is None:
                continue
            used.add(law)
            for x, y, case in zip(values[a], values[b], cases, strict=True):
                assert x <= line.factor * y + line.offset + 1e-12, (law.says, a, b, case, x, y)
    assert used == set(PAIRS)
