"""Writing: a file is replaced only when all of it is there."""

import os
import stat
import sys
from collections.abc import Iterable

from germane.errors import InputError


def check(path: str | None, inputs: Iterable[str] = ()) -> None:
    """Refuse an output that cannot be written, or is one of the inputs, before the work is done."""
    if path in (None, "-"):
        return
    if not path or not os.path.isdir(os.path.dirname(os.path.realpath(path))):
        raise InputError(f"{path or repr('')}: cannot be written (there is no such folder).")
    for read in inputs:
        both = read != "-" and os.path.exists(path) and os.path.exists(read)
        if both and os.path.samefile(path, read):
            raise InputError(f"{path}: this is an input; it would be overwritten.")


def write(path: str | None, text: str) -> None:
    """To standard output, or to a file."""
    if path is None or path == "-":
        sys.stdout.write(text)
    else:
        replace(path, text.encode("utf-8", "backslashreplace"))


def replace(path: str, data: bytes) -> None:
    """Write a file whole or not at all.

    A regular file is written beside its place and renamed; it keeps its permissions, and a link
    stays a link. A pipe or a device is written as it is.
    """
    place = os.path.realpath(path)
    try:
        mode = os.stat(place).st_mode if os.path.exists(place) else None
        if mode is not None and not stat.S_ISREG(mode):
            with open(place, "wb") as out:
                out.write(data)
        else:
            _replace(place, data, 0o666 & ~_umask() if mode is None else stat.S_IMODE(mode))
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}).") from None


def _replace(place: str, data: bytes, mode: int) -> None:
    import tempfile

    part = tempfile.NamedTemporaryFile(  # noqa: SIM115  (it is renamed, not deleted)
        dir=os.path.dirname(place), prefix=".germane-", delete=False
    )
    try:
        with part:
            part.write(data)
            part.flush()
            os.fsync(part.fileno())
        os.chmod(part.name, mode)
        os.replace(part.name, place)
    except BaseException:
        os.unlink(part.name)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
