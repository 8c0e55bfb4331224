"""Object detection: once boxes are matched with truths, they are ranked lists like any other.

The functions have the same names as those for ranked lists.

>>> truth = [{"boxes": [[10, 10, 50, 50]], "labels": [1]}]
>>> found = [{"boxes": [[10, 10, 50, 40]], "labels": [1], "scores": [0.9]}]
>>> round(germane.boxes.evaluate(truth, found)["AP"].mean, 3)
0.6
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imported when first asked for
    from germane.boxes.box_comparison import compare
    from germane.boxes.box_curves import Curves, curve
    from germane.boxes.box_explanation import Explanation
    from germane.boxes.box_gate import assert_no_regression, gate
    from germane.boxes.box_reconciliation import Reconciliation, reconcile, reconcile_table
    from germane.boxes.box_report import report
    from germane.boxes.box_result import Result, Results
    from germane.boxes.box_tables import Groups
    from germane.boxes.confusion_matrix import Confusion, confusion
    from germane.boxes.dialect_table import dialects
    from germane.boxes.dialect_values import Spread, spread
    from germane.boxes.verbs import check, evaluate, evaluate_many, explain

_MODULES = {
    name: module
    for module, names in {
        "box_report": "report",
        "box_tables": "Groups",
        "box_comparison": "compare",
        "box_gate": "assert_no_regression gate",
        "box_curves": "Curves curve",
        "confusion_matrix": "Confusion confusion",
        "dialect_table": "dialects",
        "dialect_values": "Spread spread",
        "box_explanation": "Explanation",
        "box_reconciliation": "Reconciliation reconcile reconcile_table",
        "box_result": "Result Results",
        "verbs": "check evaluate evaluate_many explain",
    }.items()
    for name in names.split()
}

__all__ = [  # noqa: RUF022  (verbs, then types)
    "assert_no_regression", "check", "compare", "confusion", "curve", "dialects", "evaluate",
    "evaluate_many", "explain", "gate", "reconcile", "reconcile_table", "report", "spread",
    "Confusion", "Curves", "Explanation", "Groups", "Reconciliation", "Result", "Results", "Spread",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'germane.boxes' has no attribute {name!r}")
    from importlib import import_module

    attribute: object = getattr(import_module(f"germane.boxes.{_MODULES[name]}"), name)
    if name.islower():
        from germane.boxes.conventions import list_options
        from germane.evaluation.choices import name_arguments

        attribute = name_arguments(attribute, list_options(attribute))
    globals()[name] = attribute
    return attribute


def __dir__() -> list[str]:
    return __all__
