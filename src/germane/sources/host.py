"""Arrays of any library as NumPy arrays on this machine, values unchanged."""

from typing import Any

import numpy as np

from germane.errors import FormatError, clip


def is_array(given: object) -> bool:
    """Is this an array: NumPy's, or of a library that speaks DLPack or ``__array__``?"""
    speaks = hasattr(given, "__dlpack__") or hasattr(given, "__array__")
    if not speaks or hasattr(given, "__arrow_c_stream__") or hasattr(given, "columns"):  # a frame
        return False
    return hasattr(given, "shape") and not isinstance(given, np.generic)


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


def listed(given: Any) -> Any:
    """The list that an array or a column of any library holds; others as they are."""
    if type(given) is list:
        return given
    ways = (getattr(given, name, None) for name in ("tolist", "to_list"))
    return next((way() for way in ways if way is not None), given)


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
        for step in ("detach", "cpu"):  # torch
            if hasattr(array, step):
                array = getattr(array, step)()
        if hasattr(array, "__cuda_array_interface__") and hasattr(array, "get"):  # CuPy
            array = array.get()
        if str(getattr(array, "dtype", "")).endswith("bfloat16") and hasattr(array, "float"):
            array = array.float()
        array = np.asarray(array) if hasattr(array, "__array__") else np.from_dlpack(array)
    if isinstance(array, np.matrix):  # of which a row is a matrix again
        array = np.asarray(array)
    if str(array.dtype) == "bfloat16":
        array = array.astype(np.float32)
    if array.dtype.kind not in "biuf":
        raise FormatError(
            f"{what}: an array of numbers is needed; got {array.dtype}, {clip(given)}"
        )
    return array
