"""Reads judgments and runs of every kind. What others import of it is in recognition and inputs."""

from germane.readers.files.formats import CANDIDATES, InputFormat, find_name, is_path
from germane.readers.inputs import Needs, QrelsInput, ReadOptions, RunInput
from germane.readers.objects.relevance import Labels, RepeatedLabels
from germane.readers.recognition import (
    NOTHING_SAID,
    accept_comments,
    find_candidates,
    find_shape,
    is_searched,
    open_inputs,
    open_judges,
    open_pairs,
    open_qrels,
    open_run,
    rank_labels,
    refuse_ambiguous,
)

__all__ = [
    "CANDIDATES",
    "NOTHING_SAID",
    "InputFormat",
    "Labels",
    "Needs",
    "QrelsInput",
    "ReadOptions",
    "RepeatedLabels",
    "RunInput",
    "accept_comments",
    "find_candidates",
    "find_name",
    "find_shape",
    "is_path",
    "is_searched",
    "open_inputs",
    "open_judges",
    "open_pairs",
    "open_qrels",
    "open_run",
    "rank_labels",
    "refuse_ambiguous",
]
