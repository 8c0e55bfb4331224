"""Dispersion: how much a mean difference varies, and the tests that need no resampling."""

import math
from dataclasses import dataclass

import numpy as np

from germane.core.ragged import Floats, Ints
from germane.core.rounding import reaches
from germane.errors import InputError

POWER = 0.8
FEW = 25  # queries below which only large differences show


@dataclass(frozen=True)
class Dispersion:
    """The standard error of a mean difference, and the degrees of freedom it was estimated with."""

    error: float
    freedom: float
    queries: int

    @property
    def deviation(self) -> float:
        """The standard deviation of one query's difference (within data sets, where there are
        several).
        """
        return self.error * math.sqrt(self.queries)

    def find_detectable(self, alpha: float) -> float | None:
        """Find the smallest true difference that a paired t-test detects with a probability of 0.8.

        It is the normal approximation with Guenther's correction (1981), which is within 2% from
        ten queries on. Returns None where the approximation fails: for fewer than five queries, or
        for too few beside a small alpha.
        """
        from statistics import NormalDist

        normal = NormalDist()
        z = -normal.inv_cdf(alpha / 2)
        if self.queries < max(5, 1.25 * z * z) or not self.error:
            return None
        widened = math.sqrt(self.queries / (self.queries - z * z / 2))
        return (z + normal.inv_cdf(POWER)) * self.error * widened


def measure_dispersion(centered: Floats, strata: Ints) -> Dispersion | None:
    """Measure how much a sum of weighted differences varies; each is given less its data set's
    mean.

    Degrees of freedom are Welch and Satterthwaite's where there are several data sets. Returns None
    where a data set has a single query, since one difference has no variance.
    """
    sizes = np.bincount(strata)
    if sizes.min() < 2:
        return None
    variance = np.bincount(strata, centered**2) * sizes / (sizes - 1)
    total = float(variance.sum())
    if not total:
        return Dispersion(0.0, float(len(strata) - len(sizes)), len(strata))
    freedom = total**2 / float(np.sum(variance**2 / (sizes - 1)))
    return Dispersion(math.sqrt(total), freedom, len(strata))


def compute_student_p(difference: float, spread: Dispersion) -> float:
    """Compute the two-sided p-value of the paired t-test."""
    if not spread.error:
        return 1.0 if not difference else 0.0
    return min(1.0, 2 * _integrate_student(-abs(difference) / spread.error, spread.freedom))


def compute_equivalence_p(difference: float, bound: float, spread: Dispersion) -> float:
    """Compute the p-value of two one-sided t-tests for a difference within ±bound."""
    if not spread.error:
        return 1.0 if reaches(abs(difference), bound) else 0.0
    upper, lower = (difference - bound) / spread.error, (-difference - bound) / spread.error
    return max(_integrate_student(upper, spread.freedom), _integrate_student(lower, spread.freedom))


def _integrate_student(t: float, freedom: float) -> float:
    """Compute Student's distribution function."""
    try:
        from scipy.special import stdtr
    except ImportError:
        raise explain_scipy("Student's t") from None
    return float(stdtr(freedom, t))


def explain_scipy(noun: str) -> InputError:
    """Make the error for a statistic that needs SciPy where it is not installed."""
    return InputError(f"{noun} needs SciPy: pip install 'germane[stats]'")
