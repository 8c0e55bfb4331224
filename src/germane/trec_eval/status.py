"""The ways in which trec_eval ends before its work is done: its exit status, and what is wrong."""

from germane.errors import GermaneError

USAGE, INPUT, QUERY, NO_QUERY, ZSCORES = 1, 2, 4, 7, 255


class TrecEvalError(GermaneError):
    """The end of a run of trec_eval, with its exit status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
