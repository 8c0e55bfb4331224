"""Whole lists of a run, judged or not, in the order in which it is evaluated."""

from __future__ import annotations

from dataclasses import dataclass

from germane.core.policy import Policy
from germane.core.ragged import Ints
from germane.kernel.columns import Ids
from germane.readers.candidates import Candidates
from germane.readers.inputs import RunInput
from germane.readers.rows import Rows


@dataclass(frozen=True, eq=False, repr=False)
class RankedRows:
    """Rows from the best to the worst: those of ``queries[s]`` are ``offsets[s]:offsets[s + 1]``."""

    queries: Ids
    offsets: Ints
    items: Ids
    row: Ints  # the place of each among the rows that were ranked
    tied_from: Ints  # the first and last rank of the row's group of equal scores
    tied_to: Ints


def rank_rows(
    rows: Rows, run: RunInput, policy: Policy, candidates: Candidates | None = None
) -> RankedRows:
    """Rank rows as a policy has it: without those that are no candidates or do not count as retrieved.

    Rows are in the order of ``policy.ties``; where grades decide on it, as in ``best``, equal scores
    are in the order of ids. Raises DuplicateError for an item that is retrieved twice if that is an error.
    """
    raise NotImplementedError
