"""The experiments: one literal table, in the order in which they are best read."""

from germane.errors import InputError, clip, suggestion
from germane.explanation.simulation import lists
from germane.explanation.simulation.experiment import Design
from germane.explanation.simulation.ties import ties

EXPERIMENTS = (
    Design(
        "early_precision",
        "Early precision",
        "50 to 250 of 500 relevant items in the first 250 of 1,000 ranks, 10 of them first.",
        "relevant in ranks 1–250",
        lists.early_precision(10),
    ),
    Design(
        "early_precision_50",
        "Early precision, the first 50 relevant",
        "50 to 250 of 500 relevant items in the first 250 of 1,000 ranks, 50 of them first.",
        "relevant in ranks 1–250",
        lists.early_precision(50),
    ),
    Design(
        "late_precision",
        "Late precision",
        "0 to 250 of 500 relevant items in the last 250 of 1,000 ranks, the others before.",
        "relevant in ranks 751–1000",
        lists.late_precision,
    ),
    Design(
        "recall",
        "Recall",
        "100 to 500 of 500 relevant items retrieved, at random among 1,000 ranks.",
        "relevant retrieved",
        lists.recall,
    ),
    Design(
        "cheating",
        "Cheating",
        "A system keeps only the first 500, 400, … 10 of 500 relevant items among 1,000.",
        "relevant kept",
        lists.cheating,
    ),
    Design(
        "ties",
        "Ties",
        "100 queries of 200 scored items, the scores rounded to 6, 5, … 0 digits.",
        "digits",
        ties,
    ),
)
BY_NAME = {design.name: design for design in EXPERIMENTS}
ALL = "all"  # on the command line


def design_of(name: str) -> Design:
    """The design of that name. Raises InputError."""
    plain = (
        name.strip().lower().replace(" ", "_").replace("-", "_") if isinstance(name, str) else ""
    )
    if plain == ALL:
        raise InputError(
            "simulate makes one experiment, and all of them one by one: "
            f"{{name: germane.simulate(name) for name in {tuple(BY_NAME)}}}. "
            "On the command line: germane simulate all"
        )
    if plain not in BY_NAME:
        near = suggestion(plain, (*BY_NAME, ALL))
        raise InputError(f"no experiment {clip(name)}.{near}  There are: {', '.join(BY_NAME)}")
    return BY_NAME[plain]
