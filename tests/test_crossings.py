"""Every verb with every kind of input and every option on rows: the values of dicts, or a refusal about the data."""

from dataclasses import replace
from pathlib import Path

import pytest

import germane

from crossings.cells import Cell, list_cells
from crossings.kinds import KINDS
from crossings.options import LISTS, OPTIONS, Data, make_data
from crossings.refusals import REFUSED, explain_unchanged
from crossings.table import Table, call
from crossings.verbs import VERBS

LONG = ("report", "reconcile")
"""Verbs that try many definitions, or write a page: a few cells show how they open data."""


def _count_places(cell: Cell) -> int:
    """Add the places of verb, kind and option: every two of them meet in a cell with any remainder of the sum."""
    return sum(
        list(table).index(name) for table, name in zip((VERBS, KINDS, OPTIONS), cell, strict=True)
    )


def _is_quick(cell: Cell) -> bool:
    """Is this one of the cells that the ordinary run tries?"""
    every = 120 if cell.verb in LONG else 6
    return cell.verb == "evaluate" or _count_places(cell) % every == 0


def _find_faults(cells: list[Cell], seed: int, folder: Path) -> dict[Cell, str]:
    table = Table(make_data(seed), folder)
    found = {cell: table.find_fault(cell) for cell in cells}
    return {cell: fault for cell, fault in found.items() if fault}


def _show(faults: dict[Cell, str]) -> str:
    return "\n".join(f"{' × '.join(cell)}: {fault}" for cell, fault in faults.items())


@pytest.mark.parametrize("option", OPTIONS)
def test_cells(option: str, tmp_path: Path) -> None:
    cells = [cell for cell in list_cells([option]) if _is_quick(cell)]
    faults = _find_faults(cells, 7, tmp_path)
    assert not _show(faults)


@pytest.mark.slow
@pytest.mark.parametrize("option", OPTIONS)
def test_more_cells(option: str, tmp_path: Path) -> None:
    """A sixth of the cells, none of which the ordinary run tries."""
    cells = [
        cell
        for cell in list_cells([option])
        if cell.verb not in ("evaluate", *LONG) and _count_places(cell) % 6 == 3
    ]
    faults = _find_faults(cells, 7, tmp_path)
    assert not _show(faults)


@pytest.mark.long
@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("seed", [7, 8])
def test_all_cells(seed: int, option: str, tmp_path: Path) -> None:
    cells = [cell for cell in list_cells([option]) if cell.verb not in LONG or _is_quick(cell)]
    faults = _find_faults(cells, seed, tmp_path)
    assert not _show(faults)


def test_every_refusal_is_of_cells_that_exist() -> None:
    cells = list_cells()
    for one in REFUSED:
        assert any(map(one.covers, cells)), one.why


BESIDE = {
    "ties": lambda data: ["trec"] if data.measures == LISTS else ["best", "worst"],
    "collapse": lambda data: [dict.fromkeys(data.options["collapse"], "g0")],
}
"""Other choices, for options that may be the default or cannot be left out."""


def _evaluate(kind: str, data: Data, folder: Path) -> object:
    place = folder / f"{len(list(folder.iterdir()))}"
    place.mkdir()
    found = call("evaluate", KINDS[kind].make(data, place))
    return found.value and found.value[:2]  # the values and the counts; None if it is refused


@pytest.mark.parametrize("option", [one for one in OPTIONS if one != "no option"])
def test_an_option_has_an_effect(option: str, tmp_path: Path) -> None:
    """Each option changes a number on some data, or is refused; or the table says why it does neither."""
    for kind in KINDS:
        cell, unchanged = Cell("evaluate", kind, option), explain_unchanged(kind, option)
        if any(one.covers(cell) for one in REFUSED):
            continue
        effects: dict[str, bool] = {}
        for seed in range(7, 9 if unchanged else 11):
            data = KINDS[kind].adjust(OPTIONS[option](make_data(seed)))
            data = replace(data, has_copies="duplicates" in data.options)
            found = _evaluate(kind, data, tmp_path)
            for name in data.options.keys() - {"seen", "catalogue"}:
                others = [{word: it for word, it in data.options.items() if word != name}]
                if name in BESIDE:
                    others = [{**data.options, name: other} for other in BESIDE[name](data)]
                values = [_evaluate(kind, replace(data, options=one), tmp_path) for one in others]
                is_left_out = name not in BESIDE  # another choice may be refused
                changes = any(one != found and (is_left_out or one) for one in values)
                effects[name] = effects.get(name, False) or changes
            if all(effects.values()):
                break
        assert all(effects.values()) is not bool(unchanged), (kind, effects, unchanged)


def test_a_fault_is_seen(tmp_path: Path) -> None:
    """The table tells a value that differs, and a refusal that is not stated."""
    table = Table(make_data(), tmp_path)
    cell = Cell("evaluate", "dicts", "depth=")
    assert not table.find_fault(cell)
    table._cases["dicts", "depth=", False].options["depth"] = 1
    assert table.find_fault(cell).startswith("differs: ")
    table._cases["dicts", "depth=", False].options["depth"] = -1
    assert table.find_fault(cell).startswith("refused: depth must be")


def test_check_says_what_evaluate_refuses(tmp_path: Path) -> None:
    """A grade above ``max`` is no fault of a run, and is refused whatever holds it."""
    table = Table(make_data(), tmp_path)
    for cell in list_cells(["no option", "exclude="], ["check"]):
        case = table.make_case(cell)
        with pytest.raises(germane.errors.MeasureError, match="above max=") as refused:
            germane.evaluate(case.qrels, case.run, "ERR(max=0.5)@2", **case.options)
        found = germane.check(case.qrels, case.run, "ERR(max=0.5)@2", **case.options)
        said = [one.says for one in found if one.what == "refused by evaluate"]
        assert said == [f"evaluate raises an error: {refused.value}".rstrip(".")], cell
