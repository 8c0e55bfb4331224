"""Experiments on the measures themselves: one quantity is swept, and the measures say what moves."""

from typing import TYPE_CHECKING

from germane.core.seed import Seed, generator

if TYPE_CHECKING:
    from germane.explanation.simulation.experiment import Experiment

__all__ = ["simulate"]


def simulate(name: str, *, rng: Seed = 0) -> "Experiment":
    """Make one of the experiments on the measures themselves.

    >>> cheating = germane.simulate("cheating")
    >>> found = cheating["AP(norm=found)@1000"]
    >>> found[500] < found[100] < found[10]
    True

    ``name`` is early_precision, early_precision_50, late_precision, recall, cheating or ties; blanks
    and hyphens may stand for underscores. ``rng`` is a seed or a NumPy generator: the same seed makes
    the same experiment. Raises InputError for a name or seed that there is not.
    """
    from germane.explanation.simulation.registry import (
        design_of,  # only for whoever asks: imports add up
    )

    design = design_of(name)
    return design.make(design, generator(rng))
