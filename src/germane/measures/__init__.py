"""The measures: one file per family, in which each measure's row follows its function.

A new measure is a function and a ``Definition`` in the file of its family, and a word in ``TABLE``.
``germane.__init__`` lists its name, for type checkers, in the same order. It has an oracle in
``tests/oracle.py``, and ``python docs/generate.py`` writes its page.
"""

from typing import Any
from weakref import WeakValueDictionary

from germane.core.ragged import Floats, unite_equal
from germane.measures import (
    average,
    confusion,
    exposure,
    gain,
    pairs,
    ranks,
    sets,
    subtopic_coverage,
    subtopic_novelty,
    user_models,
)
from germane.measures.definition import (
    CatalogueDefinition,
    Definition,
    Parameter,
    Scored,
)

__all__ = [
    "BY_NAME",
    "CATALOGUE",
    "DEFINED",
    "TABLE",
    "Definition",
    "Parameter",
    "Scored",
    "find_direction",
    "find_merits",
]

TABLE: tuple[Definition, ...] = (
    sets.QUERIES, sets.RETRIEVED, sets.RELEVANT, sets.RELEVANT_RETRIEVED,
    sets.NONRELEVANT_RETRIEVED, sets.JUDGED, sets.UNJUDGED, sets.PRECISION, sets.RECALL,
    sets.F_MEASURE, sets.R_PRECISION, sets.SUCCESS, sets.ALL_FOUND,
    sets.SET_AVERAGE_PRECISION, sets.UTILITY,
    average.AVERAGE_PRECISION, average.MEAN_PRECISION, average.MEAN_RECALL, average.AVERAGE_RECALL,
    average.AVERAGE_PRECISION_TO_R, average.YAAP,
    sets.RECIPROCAL_RANK,
    gain.DCG, gain.IDEAL_DCG, gain.NDCG, gain.NDCG_AT_RELEVANT, gain.NDCG_AT_LEVELS,
    gain.NORMALIZED_GAIN, gain.BINARY_GAIN,
    user_models.EXPECTED_RECIPROCAL_RANK, user_models.RANK_BIASED_PRECISION, user_models.RESIDUAL,
    user_models.INSQ, user_models.INST, user_models.BPM, user_models.NEARLY_ERR_8,
    user_models.NEARLY_ERR_9, user_models.NEARLY_ERR_10, user_models.NEARLY_ERR_11,
    user_models.SCALED_DCG,
    average.INTERPOLATED_PRECISION, average.INTERPOLATED_AVERAGE_PRECISION,
    average.AREA_UNDER_CURVE,
    confusion.BPREF, confusion.INFERRED_AVERAGE_PRECISION, confusion.FALL_OUT,
    confusion.SET_ACCURACY, confusion.MATTHEWS_CORRELATION, pairs.AREA_UNDER_ROC,
    pairs.GROUP_AUC, pairs.RANKING_LOSS, ranks.LAST_RANK, ranks.MEAN_RANK,
    ranks.PERCENTILE_RANK, ranks.INVERSE_PENALTY, confusion.RECALL_AT_PRECISION,
    user_models.COMPATIBILITY,
    subtopic_coverage.SUBTOPIC_RECALL, subtopic_coverage.INTENT_AWARE_PRECISION,
    subtopic_coverage.INTENT_AWARE_AVERAGE_PRECISION,
    subtopic_novelty.ALPHA_DCG, subtopic_novelty.ALPHA_NDCG, subtopic_novelty.INTENT_AWARE_ERR,
    subtopic_novelty.NORMALIZED_INTENT_AWARE_ERR, subtopic_novelty.NOVELTY_RBP,
    subtopic_novelty.NORMALIZED_NOVELTY_RBP,
    subtopic_coverage.D_SHARP_NDCG,
)  # fmt: skip
"""Every measure, in print order."""

CATALOGUE: tuple[CatalogueDefinition, ...] = (
    exposure.COVERAGE, exposure.GINI, exposure.ENTROPY, exposure.PERSONALIZATION,
    exposure.ARP, exposure.NOVELTY, exposure.TAIL, exposure.LIFT,
    exposure.ILD, exposure.SERENDIPITY,
)  # fmt: skip
"""The measures of the catalogue, which look at whole lists."""

BY_NAME: dict[str, Definition] = {row.name: row for row in (*TABLE, *CATALOGUE)}

DEFINED: WeakValueDictionary[str, Any] = WeakValueDictionary()
"""Users' own measures by name, as long as somebody holds them."""

_DIRECTIONS = {"high": 1, "neither": 0, "low": -1}


def find_direction(name: str) -> int:
    """Find which way is better: 1 for high values of the measure, -1 for low ones, 0 for none."""
    row = BY_NAME[name] if name in BY_NAME else getattr(DEFINED.get(name), "row", None)
    return 1 if row is None else _DIRECTIONS[row.better]


def find_merits(name: str, means: Floats) -> list[float]:
    """Turn means of a measure into numbers that are higher for better runs; none if it has none.

    Means that differ by rounding alone have one merit.
    """
    direction = find_direction(name)
    merits: list[float] = (direction * unite_equal(means)).tolist()
    return merits if direction else []
