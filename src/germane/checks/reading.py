"""Reading for checks: the rows of qrels and runs of every source, without stopping at faults."""

from __future__ import annotations

from germane.checks.rows import Side, gather
from germane.core.progress import Progress
from germane.readers import Needs, QrelsInput, RunInput
from germane.readers.inputs import Faults
from germane.readers.rows import list_judgments

EVERYTHING = "what is asked for"  # of the judgments is read


def read_qrels(qrels: QrelsInput, progress: Progress | None = None, subtopics: str = "") -> Side:
    """Read judgments with all of their faults. Raises InputError for what cannot be read.

    Judgments of ``subtopics``, which the named measures need, are read as evaluate reads them.
    """
    faults = Faults()
    parts = None if subtopics else qrels.read_rows(progress, faults)
    if parts is not None:
        return gather("qrels", qrels.where, parts, faults, text=qrels.is_text)
    judged = qrels.read("error", progress, Needs(EVERYTHING, EVERYTHING))
    single = 0 if judged.subtopics is None else judged.subtopics.count_doubtful()
    return gather(
        "qrels", judged.name, [list_judgments(judged)], faults, text=judged.ids == "text",
        places=judged.width is not None, single_subtopics=single,
    )  # fmt: skip


def read_run(run: RunInput, progress: Progress | None = None) -> Side:
    """Read a run with all of its faults."""
    faults, places = Faults(), not (run.has_ids or run.has_query_ids)
    where = run.name if run.where == "run" else run.where
    return gather(
        "run", where, run.read_rows(None, progress, faults), faults, text=run.is_text,
        places=places, numbered=places and run.has_all_items,
    )  # fmt: skip
