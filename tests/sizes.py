"""The internal sizes that tests make smaller, so that small data takes the way of large data.

This is the only place where tests name them: a size that moves is changed here.
"""

import pytest

SIZES = {
    "block": "germane.readers.files.line_blocks.BLOCK",  # bytes of a text file that are read at once
    "free": "germane.readers.files.line_blocks.streams.FREE",  # bytes up to which any compression is allowed
    "step": "germane.readers.rows.STEP",  # rows that are reduced at once
    "step_of_dicts": "germane.readers.objects.mappings.STEP",
    "held": "germane.readers.files.line_blocks.streams.HELD",  # rows of scattered queries that stay in memory
    "short_lists": "germane.kernel.keys._SHORT",
    "few_lists": "germane.kernel.keys._FEW",
    "ids_step": "germane.readers.objects.top_ids.STEP",  # cells of top-k ids that are matched at once
    "score_cells": "germane.readers.objects.arrays.CELLS",  # cells of scores that are ranked at once
    "short_rows": "germane.readers.objects.margins.SHORT",  # comparisons of a row up to which nothing is sorted
    "wide_rows": "germane.readers.objects.margins.WIDE",  # scores of a row up to which many columns are sorted at once
    "product_cells": "germane.readers.objects.embeddings.CELLS",  # similarities that are computed at once
    "stored": "germane.readers.objects.relevance.SORTED",
    "most_cells": "germane.readers.objects.relevance.MOST",
    "room": "germane.reports.findings.ROOM",  # results of runs that a report reads again
    "max_size": "germane.reports.page_data.MAX_SIZE",  # bytes of a page with its rankings
    "least": "germane.reports.page_data.LEAST",
    "small_texts": "germane.readers.options.texts.SMALL",  # bytes of a file of texts that is held
    "chunk": "germane.readers.objects.packed_rows.CHUNK",
    "enough": "germane.checks.data.ENOUGH",
}


def set_sizes(monkeypatch: pytest.MonkeyPatch, **sizes: float) -> None:
    """Change sizes until the end of the test."""
    for name, size in sizes.items():
        monkeypatch.setattr(SIZES[name], size)
