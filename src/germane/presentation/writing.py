"""Writing: a file is replaced only when its new content is complete."""

import contextlib
import os
import pathlib
import stat
import sys
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from germane.errors import InputError, list_some, make_visible

PART = ".germane-"
"""The start of the names of unfinished files and folders. A shell's ``*`` does not match it."""


TEXTS = {"txt": "table", "md": "markdown", "tex": "latex", "htm": "html"} | {
    name: name for name in ("html", "csv", "tsv", "json", "markdown", "latex")
}
"""The suffixes of text, and the format that each of them names."""

DRAWN = ("svg", "png", "pdf", "jpg", "jpeg", "gif", "webp", "eps", "tif", "tiff", "bmp")
OTHERS = (
    *("xlsx", "xls", "ods", "docx", "doc", "pptx", "odt", "rtf", "ipynb"),
    *("parquet", "arrow", "feather", "npy", "npz", "pkl", "pickle", "h5", "hdf5", "db", "sqlite"),
    *("jsonl", "ndjson", "xml", "yaml", "yml", "toml"),
    *("gz", "bz2", "xz", "zst", "zip", "tar", "tgz", "mp4", "webm"),
)
"""The suffixes of pictures, and of other formats that no command writes as text."""


def find_suffix(path: str | os.PathLike[str] | None) -> str:
    """Find the suffix of a file in small letters, without its point."""
    return os.path.splitext(os.fspath(path or ""))[1][1:].casefold()


def check_suffix(
    path: str | os.PathLike[str], writes: Iterable[str], text: str, advice: str = ""
) -> None:
    """Refuse a file whose suffix is that of another format than those that are written.

    ``says`` names the writer and what it writes.
    """
    suffix = find_suffix(path)
    if suffix not in writes and suffix in (*TEXTS, *DRAWN, *OTHERS):
        raise InputError(f"{os.fspath(path)}: {text}, and not {suffix}.{advice}")


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
        _refuse_input(path, read)


def refuse_same(path: str, second_path: str) -> None:
    """Refuse two outputs of which one would replace the other."""
    if "-" in (path, second_path):
        return
    ends = os.path.realpath(path), os.path.realpath(second_path)
    if ends[0] == ends[1] or (_find_state(path) and _find_state(path) == _find_state(second_path)):
        raise InputError(
            f"{path}: two outputs would be written to this file. Give each a name of its own."
        )


def _refuse_input(path: str, read: str) -> None:
    """Refuse an output that is an input, lies in a folder that is one, or is a folder around one.

    Files are compared by their number on the disk, which all names and links of a file share.
    """
    state, read_state = _find_state(path), _find_state(read)
    if read_state is None or (state and not (state.is_file or state.is_folder)):
        return  # what goes to a pipe or a device replaces nothing
    if state == read_state and not state.is_folder:
        raise InputError(f"{path}: this is an input file and would be overwritten.")
    if read_state.is_folder:
        if read_state in map(_find_state, _list_folders(path)):
            raise InputError(
                f"{path}: the folder {read} is an input and would be changed. Write elsewhere."
            )
        if state and state.is_file and (same := _find_inside(read, state, set())):
            raise InputError(f"{path}: this is the input file {same} and would be overwritten.")
    elif state and state.is_folder and state in map(_find_state, _list_folders(read)):
        beside = os.path.join(path, "report", "")
        raise InputError(
            f"{path}: the input {read} lies in this folder and could be overwritten. Give the"
            f" output a folder of its own, such as {beside}"
        )


class _State(NamedTuple):
    """A file or folder, as all of its names and links share it."""

    device: int
    number: int
    is_file: bool
    is_folder: bool


def _find_state(path: str) -> _State | None:
    """Find what a path, or standard input, is on the disk; None where nothing is there."""
    try:
        state = os.stat(0 if path == "-" else path)
    except (OSError, ValueError):
        return None
    kind = state.st_mode
    return _State(state.st_dev, state.st_ino, stat.S_ISREG(kind), stat.S_ISDIR(kind))


def _list_folders(path: str) -> list[str]:
    """List the folders around a path, and the path itself, as it is without links."""
    end = pathlib.Path(os.path.realpath(path))
    return [str(end), *map(str, end.parents)]


def _find_inside(folder: str, state: _State, seen: set[_State | None]) -> str | None:
    """Find the name of a file in a folder and its folders; links may lead in circles."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if not (entry.is_symlink() or entry.is_dir() or entry.inode() == state.number):
                continue
            entry_state = _find_state(entry.path)
            if entry_state == state:
                return entry.path
            if entry_state and entry_state.is_folder and entry_state not in seen:
                seen.add(entry_state)
                if (inside := _find_inside(entry.path, state, seen)) is not None:
                    return inside
    return None


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


def check_folder(path: str, report_files: Iterable[str]) -> None:
    """Refuse a folder that holds other files than a report's own."""
    with _explain(path):
        present = set(os.listdir(path)) if os.path.isdir(path) else set()
    foreign = sorted(present - {name.partition("/")[0] for name in report_files})
    if foreign and "index.html" not in present:
        beside = os.path.join(path, "report", "")
        raise InputError(
            f"{path}: the folder contains other files ({list_some(foreign)}), and a report"
            f" consists of several files. Give it a folder of its own, such as {beside}"
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


def show_lines(text: str) -> str:
    """Write out what a terminal does not print, but for tabs and the ends of lines."""
    if text.isprintable():
        return text
    text = text.replace("\r\n", "\n")
    return "".join(c if c in "\n\t" else make_visible(c) for c in text)
