"""Finding: something in the data that bends a number, or may."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from germane.errors import clip

Severity: TypeAlias = Literal["serious", "doubtful", "note"]
SEVERITIES: tuple[Severity, ...] = ("serious", "doubtful", "note")


@dataclass(frozen=True)
class Finding:
    """Something in the data that bends a number, or may.

    >>> result = germane.evaluate({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 1.0}}, "AP")
    >>> result.findings[0].what
    'missing queries'

    ``serious``: the number is likely not what was meant; ``doubtful``: it may be; ``note``: good to
    know.
    """

    severity: Severity
    what: str
    """The kind of finding, the same words each time."""
    says: str
    """The finding as a sentence without its full stop."""
    count: int
    """How many queries, items or lines it concerns."""
    examples: tuple[str, ...] = ()
    """The first of them, with file and line where there is a file."""
    advice: str = ""
    """How to act on it."""
    where: str = ""
    """The run or the qrels."""

    def __str__(self) -> str:
        where = f"{self.where}: " if self.where else ""
        examples = f": {join_examples(self.examples, self.count)}" if self.examples else ""
        return f"{where}{self.says}{examples}.{' ' * bool(self.advice)}{self.advice}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {**asdict(self), "examples": list(self.examples)}


def join_examples(examples: tuple[str, ...], count: int) -> str:
    """The examples as prose, with a mark where there are more."""
    return ", ".join(examples) + (", …" if count > len(examples) else "")


def show_ids(ids: Iterable[object], most: int = 3) -> tuple[str, ...]:
    """The first few ids, as messages show them."""
    return tuple(clip(one) for one, _ in zip(ids, range(most), strict=False))


def sort_by_severity(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The serious ones first."""
    return tuple(sorted(findings, key=lambda one: SEVERITIES.index(one.severity)))
