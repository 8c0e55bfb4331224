"""Splits judgments with a column that names the judge."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from germane.errors import EmptyError, clip
from germane.kernel.columns import join_ids
from germane.kernel.reduction import find_distinct
from germane.readers.frames import Frame


def split_by_judge(frame: Frame) -> dict[str, Frame]:
    """Split the rows by judge, in the order of first appearance. Raises EmptyError for no rows."""
    frame = frame.hold()
    column, relevance = frame.headings.judge, frame.headings.relevance
    assert column is not None
    records, columns = [], []
    for row, record in frame.number_records():
        if record.num_rows:
            frame.read_ids(record, row)  # so that an error has the number of the row in the whole
            if relevance is not None:
                frame.read_numbers(record, relevance, row, "relevance grade")
            records.append(record)
            columns.append(frame.read_names(record, row, column).as_text())
    if not records:
        raise EmptyError(f"{frame.where}: there are no rows, so there are no judgments.")
    judges = join_ids(columns)
    first, judge = find_distinct(judges)
    masks = np.split(judge, np.cumsum([record.num_rows for record in records])[:-1])
    parts = {}
    for number, name in enumerate(judges.take(first).python):
        mine = [
            record.filter(pa.array(mask == number))
            for record, mask in zip(records, masks, strict=True)
        ]
        part = replace(frame, where=f"{frame.where}, judge {clip(name)}")
        parts[str(name)] = part.replace_records([one for one in mine if one.num_rows])
    return parts
