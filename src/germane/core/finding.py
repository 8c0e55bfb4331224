"""Finding: a problem in the data that distorts a number, or may."""

import sys
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, TypeAlias

from germane.errors import GermaneWarning, clip, make_visible, spell_options
from germane.output.documents import Plain

Severity: TypeAlias = Literal["serious", "doubtful", "note"]
SEVERITIES: tuple[Severity, ...] = ("serious", "doubtful", "note")


@dataclass(frozen=True)
class Finding(Plain):
    """A problem in the data that distorts a number, or may distort it.

    >>> result = germane.evaluate({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 1.0}}, "AP")
    >>> result.findings[0].what
    'missing queries'

    A ``serious`` finding means that the number is probably not what you want, a ``doubtful`` one
    that it may not be; a ``note`` is good to know.
    """

    severity: Severity
    what: str
    """The kind of finding, always in the same words."""
    says: str
    """The finding as a sentence without its full stop."""
    count: int
    """How many queries, items or lines it concerns."""
    examples: tuple[str, ...] = ()
    """The first few of these queries, items or lines, with file and line where there is a file."""
    advice: str = ""
    """How to act on it."""
    where: str = ""
    """The run or the qrels."""

    def __post_init__(self) -> None:
        for name in ("says", "advice"):
            object.__setattr__(self, name, spell_options(getattr(self, name)))

    def __str__(self) -> str:
        where = f"{self.where}: " if self.where else ""
        ellipsis = ", …" if self.count > len(self.examples) else ""
        examples = f": {', '.join(self.examples)}{ellipsis}" if self.examples else ""
        text = f"{where}{self.says}{examples}.{' ' * bool(self.advice)}{self.advice}"
        return make_visible(text)


def show_ids(ids: Iterable[object]) -> tuple[str, ...]:
    """Show the first few ids as messages do."""
    return tuple(map(clip, islice(ids, 3)))


def warn(name: str, findings: Sequence[Finding]) -> None:
    """Warn of findings, at the line outside germane that called it."""
    if findings:
        frame, level = sys._getframe(1), 2
        while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == "germane":
            frame, level = frame.f_back, level + 1
        text = " ".join(str(finding).removeprefix(f"{name}: ") for finding in findings)
        warnings.warn(make_visible(f"{name}: {text}"), GermaneWarning, stacklevel=level)


def sort_by_severity(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort findings by severity, the serious ones first."""
    return tuple(sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity)))
