"""Experiments on the measures themselves: one quantity is swept, and the measures respond.

The experiments are one literal table, in the order in which they are best read.
"""

from typing import TYPE_CHECKING

from germane.core.arguments import Seed, make_generator
from germane.errors import InputError, clip, suggest
from germane.explanation.simulation import designs
from germane.explanation.simulation.designs import vary_ties
from germane.explanation.simulation.experiment import Design

if TYPE_CHECKING:
    from germane.explanation.simulation.experiment import Experiment


EXPERIMENTS = (
    Design(
        "early_precision",
        "Early precision",
        "50 to 250 of 500 relevant items in the first 250 of 1,000 ranks, 10 of them first.",
        "relevant in ranks 1–250",
        designs.vary_early_precision(10),
    ),
    Design(
        "early_precision_50",
        "Early precision, the first 50 relevant",
        "50 to 250 of 500 relevant items in the first 250 of 1,000 ranks, 50 of them first.",
        "relevant in ranks 1–250",
        designs.vary_early_precision(50),
    ),
    Design(
        "late_precision",
        "Late precision",
        "0 to 250 of 500 relevant items in the last 250 of 1,000 ranks, the others before.",
        "relevant in ranks 751–1000",
        designs.vary_late_precision,
    ),
    Design(
        "recall",
        "Recall",
        "100 to 500 of 500 relevant items retrieved, at random among 1,000 ranks.",
        "relevant retrieved",
        designs.vary_recall,
    ),
    Design(
        "cheating",
        "Cheating",
        "A system keeps only the first 500, 400, … 10 of 500 relevant items among 1,000.",
        "relevant kept",
        designs.vary_cheating,
    ),
    Design(
        "ties",
        "Ties",
        "100 queries of 200 scored items, the scores rounded to 6, 5, … 0 digits.",
        "digits",
        vary_ties,
    ),
)
BY_NAME = {design.name: design for design in EXPERIMENTS}
ALL = "all"  # on the command line


def find_design(name: str) -> Design:
    """The design of that name. Raises InputError."""
    plain = (
        name.strip().lower().replace(" ", "_").replace("-", "_") if isinstance(name, str) else ""
    )
    if plain == ALL:
        raise InputError(
            "simulate makes one experiment, and all of them one by one: "
            f"{{name: germane.simulate(name) for name in {tuple(BY_NAME)}}}. "
            "On the command line: germane simulate all"
        )
    if plain not in BY_NAME:
        near = suggest(plain, (*BY_NAME, ALL))
        raise InputError(f"no experiment {clip(name)}.{near}  There are: {', '.join(BY_NAME)}")
    return BY_NAME[plain]


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
    design = find_design(name)
    return design.make(design, make_generator(rng))
