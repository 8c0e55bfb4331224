"""Every dialect, in one literal tuple."""

from germane.dialects.beir import BEIR
from germane.dialects.boosting import CATBOOST, LIGHTGBM, XGBOOST
from germane.dialects.catalyst import CATALYST
from germane.dialects.cornac import CORNAC
from germane.dialects.detection import COCO, ULTRALYTICS, VOC_2007, VOC_2010
from germane.dialects.dialect import Dialect
from germane.dialects.elliot import ELLIOT, MEAN_OF_PRECISIONS
from germane.dialects.evidently import EVIDENTLY
from germane.dialects.implicit import IMPLICIT
from germane.dialects.ir_measures import IR_MEASURES, IR_MEASURES_CWL, IR_MEASURES_TRECTOOLS
from germane.dialects.kaggle import KAGGLE_NOTEBOOK
from germane.dialects.landmarks import INQUIRE, REVISITOP
from germane.dialects.learning_to_rank import KERAS_RS, RANKEVAL, RAX, TENSORFLOW_RANKING
from germane.dialects.lenskit import LENSKIT
from germane.dialects.metric_learning import OPEN_METRIC_LEARNING, PYTORCH_METRIC_LEARNING
from germane.dialects.ml_metrics import ML_METRICS, ML_METRICS_GIT
from germane.dialects.mteb import MTEB
from germane.dialects.rag import CONTINUOUS_EVAL, HAYSTACK, HAYSTACK_2, LLAMA_INDEX, RAGAS
from germane.dialects.ranx import RANX
from germane.dialects.recbole import RECBOLE
from germane.dialects.recmetrics import RECMETRICS
from germane.dialects.recometrics import RECOMETRICS
from germane.dialects.recommendation import LIGHTFM, SPOTLIGHT, SURPRISE
from germane.dialects.recommenders import RECOMMENDERS
from germane.dialects.rectools import RECTOOLS
from germane.dialects.reidentification import TORCHREID
from germane.dialects.scikit_learn import SCIKIT_LEARN, SCIKIT_LEARN_0_18
from germane.dialects.search_engines import (
    ELASTICSEARCH,
    OPENSEARCH,
    PYVESPA,
    PYVESPA_GRADED,
    QUEPID,
)
from germane.dialects.sentence_transformers import SENTENCE_TRANSFORMERS
from germane.dialects.spark import SPARK
from germane.dialects.tensorflow import TENSORFLOW
from germane.dialects.torch_geometric import TORCH_GEOMETRIC
from germane.dialects.torcheval import TORCHEVAL
from germane.dialects.torchmetrics import TORCHMETRICS
from germane.dialects.trec_eval import PYTREC_EVAL, TREC_EVAL_9, TREC_EVAL_10
from germane.dialects.trectools import TRECTOOLS

DIALECTS: tuple[Dialect, ...] = (
    TREC_EVAL_10,
    TREC_EVAL_9,
    PYTREC_EVAL,
    IR_MEASURES,
    IR_MEASURES_CWL,
    IR_MEASURES_TRECTOOLS,
    RANX,
    BEIR,
    MTEB,
    SENTENCE_TRANSFORMERS,
    TRECTOOLS,
    ML_METRICS,
    ML_METRICS_GIT,
    KAGGLE_NOTEBOOK,
    RECMETRICS,
    RECOMMENDERS,
    RECTOOLS,
    RECOMETRICS,
    IMPLICIT,
    SPARK,
    RECBOLE,
    ELLIOT,
    MEAN_OF_PRECISIONS,
    CORNAC,
    LENSKIT,
    EVIDENTLY,
    TORCH_GEOMETRIC,
    TORCHMETRICS,
    TORCHEVAL,
    CATALYST,
    PYTORCH_METRIC_LEARNING,
    OPEN_METRIC_LEARNING,
    TORCHREID,
    REVISITOP,
    INQUIRE,
    XGBOOST,
    LIGHTGBM,
    CATBOOST,
    RANKEVAL,
    RAX,
    TENSORFLOW_RANKING,
    KERAS_RS,
    TENSORFLOW,
    LLAMA_INDEX,
    RAGAS,
    HAYSTACK_2,
    HAYSTACK,
    CONTINUOUS_EVAL,
    ELASTICSEARCH,
    OPENSEARCH,
    QUEPID,
    PYVESPA,
    PYVESPA_GRADED,
    VOC_2007,
    VOC_2010,
    COCO,
    ULTRALYTICS,
    SCIKIT_LEARN,
    SCIKIT_LEARN_0_18,
    LIGHTFM,
    SPOTLIGHT,
    SURPRISE,
)

BY_NAME = {dialect.name: dialect for dialect in DIALECTS}

ALIASES = {
    "trec_eval": "trec_eval-10",
    "trec_eval-9.0.8": "trec_eval-9",
    "trec_eval-10.0": "trec_eval-10",
    "pytrec_eval-terrier": "pytrec_eval",
    "sklearn": "scikit-learn",
    "sklearn-0.18": "scikit-learn-0.18",
    "benhamner": "ml_metrics-git",
    "kaggle": "ml_metrics-git",
    "pyspark": "spark",
    "pml": "pytorch-metric-learning",
    "oml": "open-metric-learning",
    "roxford": "revisitop",
    "rparis": "revisitop",
    "pycocotools": "coco",
    "haystack-3": "haystack",
    "pyg": "torch-geometric",
    "tfr": "tensorflow-ranking",
}
"""Other names under which a dialect is asked for."""
