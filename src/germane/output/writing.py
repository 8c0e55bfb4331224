"""Writing: a file is replaced only when its new content is complete."""

import contextlib
import os
import pathlib
import stat
import sys
from collections.abc import Iterable, Iterator

from germane.errors import InputError, list_some
from germane.output.tables import show_lines

PART = ".germane-"
"""The start of the names of unfinished files and folders. A shell's ``*`` does not match it."""


def check(path: str | None, inputs: Iterable[str] = ()) -> None:
    """Refuse an output that cannot be written, or is one of the inputs, before the work is done."""
    if path in (None, "-"):
        return
    if not path or not os.path.isdir(folder := _find_folder(path)):
        shown = path if path and path.isprintable() else repr(path)
        raise InputError(f"{shown}: cannot be written (there is no such folder).")
    if (os.path.isfile(path) or not os.path.exists(path)) and not os.access(folder, os.W_OK):
        raise InputError(f"{path}: cannot be written (its folder is read-only).")
    for read in inputs:
        both = read != "-" and os.path.exists(path) and os.path.exists(read)
        if both and os.path.samefile(path, read):
            raise InputError(f"{path}: this is an input file and would be overwritten.")


def write(path: str | None, text: str) -> None:
    """Write to a file or to standard output; a terminal gets no control characters of ids."""
    if path is None or path == "-":
        sys.stdout.write(show_lines(text) if sys.stdout.isatty() else text)
    else:
        replace(path, text.encode("utf-8", "backslashreplace"))


def replace(path: str, data: bytes) -> None:
    """Write a file whole or not at all.

    A regular file is written under another name and renamed; the permissions of the old file are
    kept, and a link stays a link. A pipe or a device is written directly.
    """
    with _explain(path):
        try:
            mode = os.stat(path).st_mode
        except FileNotFoundError:
            mode = None
        if mode is None or stat.S_ISREG(mode):
            _replace(os.path.realpath(path), data, mode)
        else:
            with open(path, "wb") as out:
                out.write(data)


def make_folders(path: str, names: Iterable[str]) -> None:
    """Make a folder with folders in it, where they are not there yet."""
    with _explain(path):
        for name in names:
            os.makedirs(os.path.join(path, name), exist_ok=True)


def check_folder(path: str, own: Iterable[str]) -> None:
    """Refuse a folder that holds other files than a report's ``own``."""
    with _explain(path):
        held = set(os.listdir(path)) if os.path.isdir(path) else set()
    others = sorted(held - {name.partition("/")[0] for name in own})
    if others and "index.html" not in held:
        beside = os.path.join(path, "report", "")
        raise InputError(
            f"{path}: the folder holds other files ({list_some(others)}), and a report is several"
            f" files. Give it a folder of its own, such as {beside}"
        )


def append(path: str, text: str) -> None:
    """Append text to a file: the file is written again, whole or not at all."""
    with _explain(path):
        old = pathlib.Path(path).read_bytes() if os.path.isfile(path) else b""
    replace(path, old + text.encode("utf-8", "backslashreplace"))


def make_part(folder: str) -> str:
    """Make a new name in a folder, for an unfinished file or folder."""
    return os.path.join(folder, PART + os.urandom(8).hex())


def _replace(place: str, data: bytes, mode: int | None) -> None:
    beside = make_part(os.path.dirname(place))
    try:
        private = 0o666 if mode is None else 0o600  # until it has the permissions of the old file
        with open(beside, "xb", opener=lambda name, flags: os.open(name, flags, private)) as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        if mode is not None:
            os.chmod(beside, stat.S_IMODE(mode))
        os.replace(beside, place)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(beside)
        raise


def _find_folder(path: str) -> str:
    try:
        return os.path.dirname(os.path.realpath(path))
    except ValueError:  # a NUL, or a name that no file system can hold
        return ""


@contextlib.contextmanager
def _explain(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}).") from None
    except ValueError:  # a NUL, or a name that no file system can hold
        raise InputError(f"{path!r}: cannot be written (no file can have that name).") from None
