"""germane gate: exit with status 1 if a run is worse than its baseline."""

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from germane.cli import arguments
from germane.cli.paths import InputPath
from germane.comparison.significance import WORDS
from germane.errors import make_visible
from germane.evaluation.choices import DEFAULT
from germane.evaluation.opening import open_data
from germane.output import writing

if TYPE_CHECKING:
    from germane.comparison.quality_gate import Gate

FAILED = 1
_SUMMARIES = {"fell": "fell behind its baseline", "lost": "lost queries of its baseline"}


def add(commands: Any) -> None:
    command = commands.add_parser(
        "gate",
        help="exit with status 1 if a run is worse than its baseline",
        description=(
            "Compare a run with its baseline. The exit status is 1 if a measure fell by more than"
            " --max-drop and the p-value is below --alpha, or too few queries differ to test it. It"
            " is 0 otherwise, and 2 for wrong usage or bad input."
        ),
    )
    command.set_defaults(run=run)
    command.add_argument(
        "qrels", metavar="QRELS", type=InputPath, help="lines 'query 0 item grade', or columns"
    )
    command.add_argument("run_path", metavar="RUN", type=InputPath, help="the run to check")
    text = "a run, or a .json file of evaluate --format json --per-query"
    command.add_argument("--baseline", metavar="FILE", type=InputPath, required=True, help=text)
    arguments.add_measures(command, DEFAULT)
    add_limits(command)
    arguments.add_signature(command)
    command.add_argument(
        "--test", metavar="|".join(WORDS["test"]), default="randomization",
        help="test of significance (default: randomization)",
    )  # fmt: skip
    arguments.add_seed(command)
    text = "also annotate the commit and write the job summary of a GitHub workflow"
    command.add_argument("--github", action="store_true", help=text)
    arguments.add_shared(command)


def add_limits(command: argparse.ArgumentParser) -> None:
    """Add the limits of a gate."""
    add, read = arguments.add_number, arguments.read_fraction
    add(command, "--max-drop", "D", read, "largest allowed drop of a mean", 0.0)
    text = "a drop with a smaller p fails the gate"
    add(command, "--alpha", "A", read, text, 0.05)


def run(options: argparse.Namespace) -> int:
    from germane.comparison.quality_gate import gate  # its import takes long

    data = open_data(options.qrels, arguments.collect_policy(options))
    data.signs = arguments.is_signed(options)
    decision = gate(
        data, options.run_path, arguments.read_measures(options), baseline=options.baseline,
        max_drop=options.max_drop, alpha=options.alpha, test=options.test, rng=options.seed,
    )  # fmt: skip
    status = write_gate(
        options, decision, decision.comparison.signatures if options.signature else ()
    )
    if options.github:
        _report_to_github(decision)
    return status


def write_gate(
    options: argparse.Namespace, decision: "Gate", signatures: Sequence[str] = ()
) -> int:
    """Write the table of a gate, or its comparison and verdicts as JSON; return the exit status."""
    arguments.write_result(
        options,
        lambda digits: arguments.add_lines(decision.table(digits=digits), signatures),
        lambda: {
            **decision.comparison.to_dict(),
            "verdicts": decision.verdicts,
            "passed": decision.passed,
        },
    )
    return 0 if decision.passed else FAILED


def _report_to_github(decision: "Gate") -> None:
    """Write workflow commands to standard output, and the table to the job's summary."""
    for sentence in decision.sentences:
        text = make_visible(sentence).replace("%", "%25")
        print(f"::error title=germane gate::{text}")
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if not summary:
        return
    worst = next((word for word in _SUMMARIES if word in decision.verdicts.values()), "")
    verdict = "passed" if decision.passed else _SUMMARIES.get(worst, "is inconclusive")
    writing.append(
        summary, f"### germane gate: the run {verdict}\n\n{decision.table().markdown()}\n"
    )
