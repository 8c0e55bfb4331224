"""Every dialect: the families in print order."""

from germane.dialects import (
    images,
    machine_learning,
    recommendation,
    search_engines,
    search_tools,
    trec_tools,
)
from germane.dialects.dialect import Dialect

DIALECTS: tuple[Dialect, ...] = (
    *trec_tools.TREC_EVAL,
    *trec_tools.IR_MEASURES,
    *search_tools.DIVERSITY,
    *search_tools.TEXT_RETRIEVAL,
    *recommendation.DIALECTS,
    *machine_learning.PYTORCH,
    *images.IMAGE_RETRIEVAL,
    *machine_learning.KNOWLEDGE_GRAPHS,
    *machine_learning.LEARNING_TO_RANK,
    *search_engines.SEARCH_ENGINES,
    *images.DETECTION,
    *machine_learning.SCIKIT_LEARN,
)

BY_NAME = {dialect.name: dialect for dialect in DIALECTS}
