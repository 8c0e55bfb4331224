"""Program: one that reads qrels and a run and prints a number, as a function of two paths."""

import os
import re
import shlex
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import PurePath

from germane.errors import InputError, clip
from germane.identification.asking import CannotRunError, FailedCallError

MOST = 12  # calls, each of which starts the program
LIMIT = 60.0  # seconds for a call
_NUMBER = re.compile(r"[+-]?(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?|nan|NaN", re.ASCII)


_INTERPRETERS = re.compile(
    r"(python|pypy|perl|ruby|node|deno|bun|[gmn]?awk|sh|bash|zsh|java|Rscript|julia|php|lua)[\d.]*|uv|env"
)


class ProgramError(FailedCallError):
    """A call that failed: exit status and last line on standard error, or the time limit."""


PRINTED = 1 << 26  # bytes on standard output, or on standard error


def run_bounded(words: list[str], limit: float) -> tuple[int, str, str]:
    """Run a program; return its exit status and what it printed on both streams.

    Raises ProgramError for one that prints without an end, TimeoutExpired, and OSError.
    """
    with (
        tempfile.TemporaryFile() as output,
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=errors) as process,
    ):
        end = time.monotonic() + limit
        try:
            while (status := _wait(process, end)) is None:
                if max(os.fstat(stream.fileno()).st_size for stream in (output, errors)) > PRINTED:
                    raise ProgramError(f"it printed more than {PRINTED >> 20} MB")
                if time.monotonic() > end:
                    raise subprocess.TimeoutExpired(words, limit)
        except BaseException:
            process.kill()
            raise
        read = []
        for printed in (output, errors):
            printed.seek(0)
            read.append(printed.read(PRINTED).decode("utf-8", "replace"))
        return status, read[0], read[1]


def _wait(process: "subprocess.Popen[bytes]", end: float) -> int | None:
    """Wait for a program for a moment; None if it still runs."""
    try:
        return process.wait(max(0.0, min(0.1, end - time.monotonic())))
    except subprocess.TimeoutExpired:
        return None


@dataclass
class Program:
    """Runs a command without a shell; ``{qrels}`` and ``{run}`` stand for the paths of files.

    The number is what the first group of ``pattern`` matches in the output. With the groups
    ``query`` and ``value`` there is a number for each query. Without a pattern the output has one
    number.
    """

    command: str
    pattern: str | None = None
    limit: float = LIMIT
    most: int = MOST
    decimals: int = field(default=0, init=False)  # the most that was printed

    def __post_init__(self) -> None:
        try:
            self._words = shlex.split(self.command)
        except ValueError as error:
            raise InputError(f"--command cannot be split into words: {error}.") from None
        for place in ("{qrels}", "{run}"):
            if not any(place in word for word in self._words):
                raise InputError(
                    f"--command has {place} where the path of a file belongs; got"
                    f" {clip(self.command)}"
                )
        self._pattern = self._compile()
        self.__name__ = self._find_name()

    def _find_name(self) -> str:
        """Find the name of the program: that of the script, where an interpreter is called."""
        first = PurePath(self._words[0]).name
        if not _INTERPRETERS.fullmatch(first):
            return first
        scripts = (PurePath(word) for word in self._words[1:] if word[0] not in "-{")
        return next((script.name for script in scripts if script.suffix), first)

    def _compile(self) -> re.Pattern[str] | None:
        if self.pattern is None:
            return None
        try:
            compiled = re.compile(self.pattern, re.MULTILINE)
        except re.error as error:
            raise InputError(f"--pattern is no regular expression: {error}.") from None
        named = set(compiled.groupindex)
        if compiled.groups != 1 and named != {"query", "value"}:
            raise InputError(
                r"--pattern has one group, for the number, such as 'map\s+all\s+(\S+)', or the"
                r" groups "
                "(?P<query>…) and (?P<value>…)."
            )
        return compiled

    def __call__(self, qrels: str, run: str) -> float | dict[str, float]:
        words = [word.replace("{qrels}", qrels).replace("{run}", run) for word in self._words]
        try:
            status, output, errors = run_bounded(words, self.limit)
        except subprocess.TimeoutExpired:
            raise ProgramError(f"no answer within {self.limit:g} s") from None
        except OSError as error:
            raise CannotRunError(f"{words[0]} cannot be run: {error.strerror}.") from None
        if status:
            last = (errors.strip().splitlines() or [""])[-1]
            raise ProgramError(f"exit status {status}{f': {last[:100]}' if last else ''}")
        return self._read(output)

    def _read(self, output: str) -> float | dict[str, float]:
        if self._pattern is None:
            numbers = [word for word in output.split() if _NUMBER.fullmatch(word)]
            if len(numbers) != 1:
                raise ProgramError(
                    f"it printed {len(numbers)} numbers, not one; --pattern says which:"
                    f" {clip(output)}"
                )
            return self._convert(numbers[0])
        matches = list(self._pattern.finditer(output))
        if not matches:
            raise ProgramError(f"--pattern matches nothing in its output: {clip(output)}")
        if self._pattern.groupindex:
            return {
                match["query"]: self._convert(match["value"])
                for match in matches
                if match["query"] != "all"
            }
        if len(matches) > 1:
            raise ProgramError(f"--pattern matches {len(matches)} numbers in its output, not one")
        return self._convert(matches[0][1])

    def _convert(self, text: str) -> float:
        if not _NUMBER.fullmatch(text):
            raise ProgramError(f"{clip(text)} is not a number")
        _, _, decimals = text.partition(".")
        if "e" not in text.lower():
            self.decimals = max(self.decimals, len(decimals))
        return float(text)
