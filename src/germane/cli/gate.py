"""germane gate: exit 1 where a run has fallen behind its baseline."""

import argparse
import os
from typing import TYPE_CHECKING, Any

from germane.cli.arguments import (
    add_measures,
    add_output,
    add_policy,
    add_reading,
    choose_digits,
    collect_policy,
    format_table,
    parse_measures,
    read_fraction,
    read_whole,
)
from germane.cli.terminal import as_json
from germane.comparison.settings import WORDS
from germane.evaluation.choices import DEFAULT
from germane.output import writing

if TYPE_CHECKING:
    from germane.comparison.quality_gate import Gate

FAILED = 1


def add(commands: Any) -> None:
    command = commands.add_parser(
        "gate",
        help="exit 1 where a run has fallen behind its baseline",
        description="Compare a run with its baseline. Exit status 1 where a measure fell by more than is "
        "allowed, and the drop is statistically significant or the test cannot judge it; 0 where none "
        "did; 2 for wrong usage or bad input.",
    )
    command.set_defaults(run=run)
    command.add_argument("qrels", metavar="QRELS", help="lines 'query 0 item grade', or columns")
    command.add_argument("run_path", metavar="RUN", help="the run that is to pass")
    command.add_argument(
        "--baseline",
        metavar="FILE",
        required=True,
        help="a run, or a .json file of evaluate --format json --per-query",
    )
    add_measures(command, DEFAULT)
    command.add_argument(
        "--max-drop", metavar="D", type=read_fraction, default=0.0, help="allowed (default: 0)"
    )
    command.add_argument(
        "--alpha",
        metavar="A",
        type=read_fraction,
        default=0.05,
        help="a drop with a smaller p is statistically significant (default: 0.05)",
    )
    command.add_argument(
        "--test", metavar="|".join(WORDS["test"]), default="randomization",
        help="of significance (default: randomization)",
    )  # fmt: skip
    command.add_argument(
        "--seed", metavar="N", type=read_whole, default=0, help="of the random numbers (default: 0)"
    )
    command.add_argument(
        "--github",
        action="store_true",
        help="also annotate the commit and write the job summary of a GitHub workflow",
    )
    add_output(command)
    add_reading(command)
    add_policy(command)


def run(options: argparse.Namespace) -> int:
    from germane.comparison.quality_gate import (
        gate,  # costs time, which the other commands need not take
    )

    writing.check(options.output, [options.qrels, options.run_path, options.baseline])
    found = gate(
        options.qrels, options.run_path, parse_measures(options), baseline=options.baseline,
        max_drop=options.max_drop, alpha=options.alpha, test=options.test, rng=options.seed,
        **collect_policy(options),
    )  # fmt: skip
    if options.format == "json":
        plain = {**found.comparison.to_dict(), "verdicts": found.verdicts, "passed": found.passed}
        writing.write(options.output, as_json(plain))
    else:
        writing.write(
            options.output, format_table(found.table(digits=choose_digits(options)), options)
        )
    if options.github:
        _report_to_github(found)
    return 0 if found.passed else FAILED


def _report_to_github(found: "Gate") -> None:
    """Workflow commands on standard output, and the table in the job's summary."""
    for sentence in found.sentences:
        text = sentence.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        print(f"::error title=germane gate::{text}")
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if not summary:
        return
    verdict = (
        "is inconclusive" if "fell" not in found.verdicts.values() else "fell behind its baseline"
    )
    if found.passed:
        verdict = "passed"
    writing.append(summary, f"### germane gate: the run {verdict}\n\n{found.table().markdown()}\n")
