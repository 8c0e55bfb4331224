"""Seed: where random numbers come from."""

from typing import TYPE_CHECKING, Any, TypeAlias

from germane.errors import InputError, clip

if TYPE_CHECKING:
    import numpy as np

Seed: TypeAlias = "int | np.random.Generator"  # in quotes: numpy.random takes longer to import


def generator(rng: Any) -> "np.random.Generator":
    """The generator that is given, or that of a seed. Raises InputError for anything else."""
    import numpy as np

    try:
        if not isinstance(rng, bool):
            return np.random.default_rng(rng)
    except (TypeError, ValueError):
        pass
    raise InputError(
        f"rng takes a seed, which is a whole number from 0, or a NumPy generator; got {clip(rng)}"
    )
