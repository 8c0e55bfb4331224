"""Pictures of curves, of values per query and of comparisons, with Matplotlib
(``pip install 'germane[plot]'``).

A display holds finished values; ``plot(ax=…)`` draws them and keeps ``ax_`` and ``figure_``, as
scikit-learn's displays do, and ``save(path)`` writes a file. Both take ``paper="dark"``. All have
one style, and lines differ in their dashes as well as their colors.
"""

from germane.comparison.query_differences import DifferenceDisplay, ForestDisplay
from germane.explanation.displays import (
    MeansDisplay,
    PerQueryDisplay,
    PRCurveDisplay,
    PRCurvesDisplay,
)
from germane.teaching.experiment_figures import ExperimentDisplay

__all__ = [
    "DifferenceDisplay",
    "ExperimentDisplay",
    "ForestDisplay",
    "MeansDisplay",
    "PRCurveDisplay",
    "PRCurvesDisplay",
    "PerQueryDisplay",
]
