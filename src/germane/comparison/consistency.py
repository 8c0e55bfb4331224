"""Consistency: refuses to compare results of different judgments or conventions."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

from germane.comparison.sample import Runs
from germane.errors import InputError, PolicyError, clip
from germane.evaluation.fingerprint import shorten
from germane.evaluation.result import Result
from germane.measures.measure import Measure
from germane.readers import CANDIDATES


def match_results(
    datasets: Mapping[str, Runs], measures: tuple[Measure, ...]
) -> dict[str, dict[str, Result]]:
    """Refuse results that do not belong together; write ids as text where some come from a file."""
    for dataset, runs in datasets.items():
        where = f"data set {dataset}: " if dataset else ""
        for (name, first), (second_name, second) in pairwise(runs.items()):
            check_judgments(where, (name, first), (second_name, second))
            for measure in measures:
                _check_conventions(where, measure, (name, first), (second_name, second))
    return {dataset: _spell_queries(runs) for dataset, runs in datasets.items()}


def check_judgments(where: str, run: tuple[str, Result], second_run: tuple[str, Result]) -> None:
    """Refuse results of different judgments or candidates; old files do not say theirs."""
    (name, first), (second_name, second) = run, second_run
    if first.placement and second.placement and first.placement.qrels is second.placement.qrels:
        return
    if None not in (first.fingerprint, second.fingerprint) and (
        first.fingerprint != second.fingerprint or first.counts.judged != second.counts.judged
    ):
        mine, theirs = (
            f"{result.counts.judged:,} queries, qrels {shorten(result.fingerprint)}"
            for result in (first, second)
        )
        raise InputError(
            f"{where}{clip(name)} and {clip(second_name)} were evaluated with different judgments"
            f" ({mine}; {theirs}). Values can be compared only on the same queries, items and"
            " grades; evaluate both runs with the same qrels."
        )
    if first.fingerprint is None or second.fingerprint is None:
        return
    for option in CANDIDATES:
        mine, theirs = (
            (
                f"{option} {shorten(result.option_fingerprints[option])}"
                if option in result.option_fingerprints
                else f"no {option}"
            )
            for result in (first, second)
        )
        if mine != theirs:
            raise InputError(
                f"{where}{clip(name)} and {clip(second_name)} were evaluated with different"
                f" candidates ({mine}; {theirs}). Give both runs the same {option}=."
            )


def _check_conventions(
    where: str, measure: Measure, run: tuple[str, Result], second_run: tuple[str, Result]
) -> None:
    (name, first), (second_name, second) = run, second_run
    mine, theirs = (  # the choice for repeated judgments shows in the judgments
        replace(result.policies.get(measure, result.policy), qrels_duplicates=None)
        for result in (first, second)
    )
    if not (first.counts.tied and second.counts.tied):  # no order of ties: ranked lists have none
        mine = replace(mine, ties=theirs.ties)
    if mine == theirs:
        return
    words = sorted(mine.__dict__)
    differ = [word for word in words if getattr(mine, word, None) != getattr(theirs, word, None)]
    choices = [
        ", ".join(f"{word}={getattr(policy, word)}" for word in differ) for policy in (mine, theirs)
    ]
    raise PolicyError(
        f"{where}{clip(name)} was evaluated with {choices[0]}, and {clip(second_name)} with"
        f" {choices[1]}. Numbers under different conventions cannot be compared; evaluate both runs"
        " under the same ones."
    )


def _spell_queries(runs: Runs) -> dict[str, Result]:
    """Write query ids as text where some results come from a file, which has no other ids."""
    if all(result.placement is not None for result in runs.values()):
        return dict(runs)
    return {name: result.spell_queries() for name, result in runs.items()}
