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
    subtopics = qrels.subtopics
    hashes = []
    for query, (start, end) in zip(qrels.queries, pairwise(ends), strict=True):
        lines = [
            to_bytes(item) + b"\t%a" % grade
            for item, grade in zip(items[start:end], grades[start:end], strict=True)
        ]
        if subtopics is not None:
            lines += [
                b"%s\t%s\t%a" % (to_bytes(items[at]), to_bytes(name), grade)
                for at in range(start, end)
                for name, grade in subtopics.list_entries(at)
            ]
            if subtopics.weights is not None:
                span = slice(subtopics.starts[start], subtopics.starts[end])
                names = [to_bytes(subtopics.names[code]) for code in subtopics.code[span].tolist()]
                weights = subtopics.weights[span].tolist()
                lines += [b"weight\t%s\t%a" % pair for pair in zip(names, weights, strict=True)]
        lines.sort()
        hashes.append(blake2b(b"\n".join([to_bytes(query), *lines]), digest_size=16).digest())
    hashes.sort()
    return blake2b(b"".join(hashes), digest_size=16).hexdigest()
