"""Every dialect: the families in print order."""

from germane.dialects import (
    detection,
    diversity,
    image_retrieval,
    ir_measures,
    knowledge_graphs,
    learning_to_rank,
    pytorch,
    recommendation,
    scikit_learn,
    search_tools,
    text_retrieval,
    trec_eval,
)
from germane.dialects.dialect import Dialect

DIALECTS: tuple[Dialect, ...] = (
    *trec_eval.DIALECTS,
    *ir_measures.DIALECTS,
    *diversity.DIALECTS,
    *text_retrieval.DIALECTS,
    *recommendation.DIALECTS,
    *pytorch.DIALECTS,
    *image_retrieval.DIALECTS,
    *knowledge_graphs.DIALECTS,
    *learning_to_rank.DIALECTS,
    *search_tools.DIALECTS,
    *detection.DIALECTS,
    *scikit_learn.DIALECTS,
)

BY_NAME = {dialect.name: dialect for dialect in DIALECTS}
