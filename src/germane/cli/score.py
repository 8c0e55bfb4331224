"""germane score: evaluate one list that you type."""

import argparse
from typing import Any

from germane._version import VERSION
from germane.cli import arguments
from germane.evaluation.api import score
from germane.evaluation.layout import format_value
from germane.explanation.single_query import Counted
from germane.measures.measure import Measure
from germane.output.tables import Table, add_schema


def add(commands: Any) -> None:
    command = commands.add_parser(
        "score",
        help="evaluate one list that you type",
        description=(
            "Evaluate one list, given as the grades of its items in the order of their ranks."
        ),
    )
    command.set_defaults(run=run)
    command.add_argument("relevance", metavar="LIST", help="grades such as '0 0 1 0 1'")
    text = "number of all relevant items (default: those in the list)"
    arguments.add_number(command, "--relevant", "R", arguments.read_whole, text)
    arguments.add_measures(command, "AP")
    arguments.add_dialect(command)
    arguments.add_output(command)


def _count_relevant(grades: list[Any], measures: tuple[Measure, ...]) -> tuple[str, ...]:
    """Say how many items are relevant in the list, at each level that a measure has."""
    levels = sorted({1.0 if measure.rel is None else measure.rel for measure in measures})
    counts = (sum(grade >= level for grade in grades) for level in levels)
    texts = [str(Counted(count, "--relevant")) for count in counts]
    if len(texts) == 1:
        return (texts[0],)
    return tuple(f"rel={level:g}: {text}" for level, text in zip(levels, texts, strict=True))


def run(options: argparse.Namespace) -> None:
    grades, measures = arguments.read_grades(options.relevance), arguments.parse_measures(options)
    choices = arguments.collect_given(options, ("relevant", "dialect"))
    values = [(m, score(grades, m, **choices)) for m in measures]

    notes = _count_relevant(grades, measures) if options.relevant is None else ()

    def make_table(digits: int | None) -> Table:
        cells = tuple((str(m), format_value(v, m, digits), m.definition) for m, v in values)
        return Table(("measure", "value", "definition"), cells, notes, left=(2,))

    def as_dict() -> dict[str, Any]:
        rows = [{"measure": str(m), "value": v, "definition": m.definition} for m, v in values]
        return add_schema({"germane": VERSION, "measures": rows})

    arguments.write_result(options, make_table, as_dict)
