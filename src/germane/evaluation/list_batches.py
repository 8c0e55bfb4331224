"""Whole lists of a run that arrives in batches: counted batch by batch, and added up by an
Evaluator.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from germane.core.policy import Policy
from germane.core.qrels import Qrels
from germane.errors import MeasureError
from germane.evaluation.catalogue_result import check_policy
from germane.evaluation.list_tally import CountedLists, ListTally, Numbering
from germane.evaluation.run_lists import ListsOfRun
from germane.measures.catalogue import CatalogueDefinition
from germane.measures.measure import Measure
from germane.readers import RunInput

Counted: TypeAlias = dict[Policy, CountedLists]
Tallies: TypeAlias = dict[Policy, ListTally]


def refuse_copies(measures: Mapping[Measure, Policy], twice: str) -> None:
    """Refuse queries that may arrive twice, where whole lists are counted. Raises MeasureError."""
    for measure in measures:
        if isinstance(measure.row, CatalogueDefinition) and twice != "error":
            raise MeasureError(
                f"{measure} counts every list when it arrives, and forgets it: twice={twice} cannot"
                " tell which lists it counted. twice=error."
            )


def count_batch(
    run: RunInput,
    options: Any,
    policies: Mapping[Measure, Policy],
    find_qrels: Callable[[Policy], Qrels],
) -> Counted:
    """Count the lists of a batch under each policy of a measure of the catalogue."""
    return {
        policy: ListsOfRun(run, options, policy, find_qrels(policy)).count(measures).send()
        for policy, measures in _group(policies).items()
    }


def merge_batch(
    tallies: Tallies, batch: Counted, options: Any, policies: Mapping[Measure, Policy]
) -> Tallies:
    """Add the lists of a batch to those before; an error leaves these as they are."""
    tallies = tallies or {
        policy: ListTally(Numbering(options), measures)
        for policy, measures in _group(policies).items()
    }
    for policy, counted in batch.items():
        tallies[policy].refuse_repeated(counted)
    for policy, counted in batch.items():
        tallies[policy].merge(counted)
    return tallies


def collect_batches(tallies: Tallies) -> Counted:
    """Put together the lists of all batches."""
    return {policy: tally.collect() for policy, tally in tallies.items()}


def send_batches(tallies: Tallies) -> Counted:
    """Put together the lists of all batches for another process."""
    return {policy: tally.collect().send() for policy, tally in tallies.items()}


def _group(policies: Mapping[Measure, Policy]) -> dict[Policy, list[Measure]]:
    """Group the measures of the catalogue by their policy."""
    groups: dict[Policy, list[Measure]] = {}
    for measure, policy in policies.items():
        if isinstance(measure.row, CatalogueDefinition):
            check_policy(measure, policy)
            groups.setdefault(policy, []).append(measure)
    return groups
