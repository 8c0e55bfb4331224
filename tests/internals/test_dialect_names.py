"""A dialect's entry for a measure: the one that is called so, or the one of the same kind."""

from itertools import product

import pytest

import germane
from germane.dialects import resolve_dialect
from germane.dialects.families import DIALECTS
from germane.types import Dialect


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.name)
def test_what_is_unlike_germane_s_is_another_measure(dialect: Dialect) -> None:
    for one in dialect.unlike:
        own = germane.parse(one.kind)
        assert bool(one.measure) != bool(one.says)
        assert not one.measure or germane.parse(one.measure).definition != own.definition
        assert dialect.find_entry(own) is None


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.name)
def test_every_measure_of_a_tool_is_the_tool_s(dialect: Dialect) -> None:
    for entry, x in product(dialect.measuring, ("0.2", "1")):
        measure = germane.parse(entry.write_measure(7).replace("{x}", x))
        found = dialect.find_entry(measure)
        assert found is not None
        filled = germane.parse(found.write_measure(7).replace("{x}", x))
        assert measure in (filled, filled(rel=measure.rel) if filled.rel else filled)


def test_a_kind_is_what_the_tool_has_by_the_name_and_by_the_parameters() -> None:
    means = lambda dialect, kind: resolve_dialect(dialect).find_same_kind(germane.parse(kind)).name  # type: ignore[union-attr]  # noqa: E731
    assert means("rectools", "R@10") == "Recall(k={k})"
    assert means("rectools", "R(norm=min)@10") == "Precision(k={k},r_precision=True)"
    assert means("rectools", "AP@10") == "MAP(k={k})"
    assert means("rectools", "AP(norm=k)@10") == "MAP(k={k},divide_by_k=True)"
    assert means("recometrics", "R@10") == "R@K(k={k})"
    assert means("recometrics", "AP(rel=2)@10") == "AP@K(k={k})"
