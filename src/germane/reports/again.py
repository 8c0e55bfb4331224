"""Again: runs that are read a second time, for what evaluating them does not keep."""

import os
from collections.abc import Mapping
from itertools import islice
from typing import Any

from germane.core.progress import Progress
from germane.errors import GermaneError
from germane.evaluation.result import Results
from germane.readers import RunInput, formats, is_searched, open_qrels, open_run
from germane.readers.paths import is_path
from germane.reconciliation.spread import Spread, spreads

ROOM = 1_000_000  # results of all the runs that are read again, which are held in memory
TOLD = 3  # runs of which the page says what other tools would report: tables of more are not read


def kept(runs: Mapping[str, Any], results: Results, policy: Mapping[str, Any]) -> dict[str, Any]:
    """The first runs that are not too large, TREC files as what was read of them."""
    room, again = ROOM, {}
    for name, run in runs.items():
        placement = results[name].placement
        room -= int(placement.ranking.retrieved.sum()) if placement else ROOM
        if room < 0:
            break
        if not is_path(run):
            again[name] = run
        elif os.path.isfile(run):  # standard input and pipes are gone when they are read
            plain = formats.format_of(run, "run", policy.get("input_format")) == "trec"
            again[name] = open_run(run).load() if plain else run
    return again


def named(again: Mapping[str, Any], results: Results) -> dict[str, RunInput]:
    """Those whose items are found by query, at no cost: not files and frames."""
    return {
        name: open_run(run, qrels=open_qrels(placement.qrels))
        for name, run in again.items()
        if not is_searched(run) and (placement := results[name].placement)
    }


def told(
    qrels: Any,
    again: Mapping[str, Any],
    results: Results,
    policy: Mapping[str, Any],
    progress: Progress | None,
) -> dict[str, tuple[Spread, ...]]:
    """What other tools would report of the first runs. A stream that has gone by is left out."""
    out = {}
    for i, (name, run) in enumerate(islice(again.items(), TOLD)):
        if progress is not None:
            progress("dialects", i, min(TOLD, len(again)))
        placement = results[name].placement
        judgments = placement.qrels if placement and is_path(qrels) else qrels
        try:
            out[name] = spreads(judgments, run, results.measures, **policy)
        except GermaneError:
            continue
    return out
