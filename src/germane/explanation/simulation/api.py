"""The verb simulate: experiments on the measures themselves."""

from germane.core.arguments import Seed, make_generator
from germane.errors import InputError, clip, suggest
from germane.explanation.simulation.designs import EXPERIMENTS
from germane.explanation.simulation.experiment import Design, Experiment

__all__ = ["simulate"]

ALL = "all"  # on the command line


def simulate(name: str, *, rng: Seed = 0) -> Experiment:
    """Run one of the experiments on the measures themselves.

    >>> cheating = germane.simulate("cheating")
    >>> found = cheating["AP(norm=found)@1000"]
    >>> found[500] < found[100] < found[10]
    True

    ``name`` is early_precision, early_precision_50, late_precision, recall, cheating or ties.
    ``rng`` is a seed or a NumPy generator. Raises InputError for an unknown name or another seed.
    """
    design = find_design(name)
    return design.make(design, make_generator(rng))


def find_design(name: str) -> Design:
    """Find the design of that name. Raises InputError where there is none."""
    by_name = {design.name: design for design in EXPERIMENTS}
    key = name.strip().lower() if isinstance(name, str) else ""
    key = key.replace(" ", "_").replace("-", "_")
    if key == ALL:
        raise InputError(
            "simulate makes one experiment at a time. To make all of them: "
            f"{{name: germane.simulate(name) for name in {tuple(by_name)}}}. "
            "On the command line: germane simulate all"
        )
    if key not in by_name:
        near = suggest(key, (*by_name, ALL))
        raise InputError(f"no experiment {clip(name)}.{near}  There are: {', '.join(by_name)}")
    return by_name[key]
