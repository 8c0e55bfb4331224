"""Fingerprint: a short text that is the same for the same judgments, in whatever order they were read."""

from hashlib import blake2b
from itertools import pairwise

from germane.core.qrels import Qrels
from germane.kernel.ids import to_bytes


def make_fingerprint(qrels: Qrels) -> str:
    """Hash queries, items and grades; ids as the text that a file has for them."""
    if qrels.width is None:
        items, grades, ends = list(qrels.items), qrels.grades.tolist(), qrels.offsets.tolist()
    else:  # an array; its zeros are read only if a measure needs them
        kept = qrels.grades != 0
        items = [item for item, keep in zip(qrels.items, kept.tolist(), strict=True) if keep]
        grades = qrels.grades[kept].tolist()
        ends = [0, *kept.cumsum().tolist()]
        ends = [ends[end] for end in qrels.offsets.tolist()]
    hashes = []
    for query, (start, end) in zip(qrels.queries, pairwise(ends), strict=True):
        lines = [
            to_bytes(item) + b"\t%a" % grade
            for item, grade in zip(items[start:end], grades[start:end], strict=True)
        ]
        lines.sort()
        hashes.append(blake2b(b"\n".join([to_bytes(query), *lines]), digest_size=16).digest())
    hashes.sort()
    return blake2b(b"".join(hashes), digest_size=16).hexdigest()
