"""Object detection: boxes are matched with truths, and then ranked lists like any other."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from germane.boxes.table_reconciliation import reconcile_table

__all__ = ["reconcile_table"]


def __getattr__(name: str) -> object:
    if name == "reconcile_table":  # its import takes long
        from importlib import import_module

        return import_module("germane.boxes.table_reconciliation").reconcile_table
    raise AttributeError(f"module 'germane.boxes' has no attribute {name!r}")
