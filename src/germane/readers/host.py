"""Arrays of any library as NumPy arrays on this machine, values unchanged."""

import sys
from typing import Any

import numpy as np

from germane.errors import FormatError, clip


def is_array(given: object) -> bool:
    """Is this an array: NumPy's, or of a library that speaks DLPack or ``__array__``?"""
    speaks = hasattr(given, "__dlpack__") or hasattr(given, "__array__")
    if not speaks or hasattr(given, "__arrow_c_stream__") or hasattr(given, "columns"):  # a frame
        return False
    return hasattr(given, "shape") and not isinstance(given, np.generic)


def refuse_nested(given: object, what: str) -> None:
    """Refuse a nested tensor of torch's, whose rows have lengths of their own and which has no shape."""
    if getattr(given, "is_nested", False) is True:
        raise FormatError(
            f"{what}: a nested tensor cannot be read as an array of numbers, since its rows differ in "
            "length. Give both sides flat: torch.cat(tensor.unbind()), with group=[len(row) for row in "
            "tensor.unbind()]"
        )


def is_dataset(given: object) -> bool:
    """Is this a data set of the library ``datasets``? A module of the user's may have its name."""
    kind = getattr(sys.modules.get("datasets"), "Dataset", None)
    return isinstance(kind, type) and isinstance(given, kind)


def is_whole(given: object) -> bool:
    """Is this an array of whole numbers, which are ids?"""
    kind = getattr(given, "dtype", "")
    if isinstance(kind, np.dtype):  # in the other order of bytes it has another name
        return kind.kind in "iu" and is_array(given)
    name = str(kind).rpartition(".")[2]  # torch.int64
    return name.startswith(("int", "uint")) and is_array(given)


def is_sparse(given: object) -> bool:
    """Is this a sparse matrix, as of scipy.sparse or CuPy?"""
    if hasattr(given, "tocsr"):
        return True
    return all(hasattr(given, name) for name in ("indptr", "indices", "data", "shape"))


def _brought(array: Any) -> Any:
    """An array of another library, from the device where it is."""
    for step in ("detach", "cpu"):  # torch
        if hasattr(array, step):
            array = getattr(array, step)()
    if hasattr(array, "__cuda_array_interface__") and hasattr(array, "get"):  # CuPy
        array = array.get()
    if str(getattr(array, "dtype", "")).endswith("bfloat16") and hasattr(array, "float"):
        array = array.float()
    return np.asarray(array) if hasattr(array, "__array__") else np.from_dlpack(array)


def to_numpy(given: Any, what: str) -> Any:
    """The array on this machine: copied from a device, viewed where it is here already.

    bfloat16, which NumPy does not have, becomes float32; no value changes. Raises FormatError for
    what holds no numbers.
    """
    array = given
    if isinstance(given, (list, tuple)):
        try:
            array = np.asarray(given)
        except ValueError:  # rows of different lengths
            raise FormatError(f"{what}: an array of numbers is needed; got {clip(given)}") from None
    elif not (hasattr(given, "__array__") or hasattr(given, "__dlpack__")):
        raise FormatError(f"{what}: an array of numbers is needed; got {clip(given)}")
    elif not isinstance(given, np.ndarray):
        try:
            array = _brought(given)
        except (TypeError, ValueError, RuntimeError, BufferError) as error:  # of its library
            why = str(error).partition("\n")[0]
            raise FormatError(
                f"{what}: {clip(getattr(given, 'dtype', given))} cannot be read as an array of numbers ({why})"
            ) from error
    if isinstance(array, np.matrix):  # of which a row is a matrix again
        array = np.asarray(array)
    if str(array.dtype) == "bfloat16":
        array = array.astype(np.float32)
    if array.dtype.kind not in "biuf":
        raise FormatError(
            f"{what}: an array of numbers is needed; got {array.dtype}, {clip(given)}"
        )
    return array
