"""The console script: a process of germane's own, which does no linear algebra.

Outside the package, whose import brings NumPy: by then OpenBLAS has started a thread a core, which
takes a fifth of the time of a short command.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys

try:
    from germane.cli import main
except KeyboardInterrupt:  # of a person who does not wait for the imports
    sys.stderr.write("germane: interrupted.\n")
    raise SystemExit(130) from None

__all__ = ["main", "trec_eval"]


def trec_eval() -> int:
    """``germane trec_eval`` in one word."""
    return main(["trec_eval", *sys.argv[1:]])
