"""Finds how the judgments of two evaluators differ."""

from collections.abc import Hashable
from typing import Any

import numpy as np

from germane.core.qrels import Qrels
from germane.errors import InputError, clip, list_some
from germane.evaluation.fingerprint import make_fingerprint, shorten


def check_same(qrels: Qrels, other: Qrels) -> None:
    """Raise InputError for judgments that differ."""
    if qrels is other:
        return
    if qrels.queries != other.queries:
        only = set(qrels.queries) ^ set(other.queries)
        if only:
            raise _explain(qrels, other, f"judged in one alone: {list_some(sorted(only, key=str))}")
        raise InputError(
            "the queries of the evaluators' qrels stand in different orders. Make the evaluators"
            " from the same qrels."
        )
    same = np.array_equal(qrels.offsets, other.offsets) and list(qrels.items) == list(other.items)
    if not same or not np.array_equal(qrels.grades, other.grades):
        differ = (
            q for q in qrels.queries if _list_judgments(qrels, q) != _list_judgments(other, q)
        )
        raise _explain(qrels, other, f"judged otherwise: {list_some(list(differ))}")
    if _list_subtopics(qrels) != _list_subtopics(other):
        raise _explain(qrels, other, "their subtopics differ")
    if _list_weights(qrels) != _list_weights(other):
        raise _explain(qrels, other, "the weights of their subtopics differ")


def _explain(qrels: Qrels, other: Qrels, how: str) -> InputError:
    """Make the error for judgments that differ, with their names and fingerprints."""
    names = " and ".join(
        f"{clip(judgments.name)} ({shorten(make_fingerprint(judgments))})"
        for judgments in (qrels, other)
    )
    return InputError(f"the evaluators have different qrels, {names}; {how}.")


def _list_subtopics(qrels: Qrels) -> list[Any]:
    return [] if qrels.subtopics is None else qrels.subtopics.entries


def _list_weights(qrels: Qrels) -> list[float] | None:
    weights = None if qrels.subtopics is None else qrels.subtopics.weights
    return None if weights is None else weights.tolist()


def _list_judgments(qrels: Qrels, query: Hashable) -> tuple[list[Hashable], list[float]]:
    only = qrels.only(query)
    return list(only.items), only.grades.tolist()
