"""The blocks of docs/recipes.md and docs/training.md whose libraries take long to install; test_docs runs the others."""

import json
import re
import sys
import tempfile
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import germane

PAGE = "".join(
    (Path(__file__).parents[1] / "docs" / f"{name}.md").read_text("utf-8")
    for name in ("recipes", "training", "training-transformers")
)


def read_section(title: str) -> str:
    section = PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    return "\n".join(re.findall(r"^```py\n(.*?)^```", section, re.MULTILINE | re.DOTALL))


def run(title: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(read_section(title), title, "exec"), names)
    return names


def check_sentences(names: dict[str, Any]) -> None:
    vectors = {"one": [1.0, 0.0], "two": [0.0, 1.0], "more": [0.9, 0.1]}

    class Model:
        def encode(self, texts: list[str]) -> Any:
            return np.array([vectors[text] for text in texts])

    qrels = {"q1": {"d1": 1}, "q2": {"d2": 1, "d1": 0}}
    queries, corpus = {"q1": "one", "q2": "two"}, {"d1": "more", "d2": "two", "d3": "one"}
    evaluator = names["RankingEvaluator"](queries, corpus, qrels, "RR P@1")
    with tempfile.TemporaryDirectory() as folder:
        metrics = evaluator(Model(), folder, epoch=1, steps=7)
        line = json.loads(Path(folder, "germane.jsonl").read_text("utf-8"))
    assert metrics == {"germane_RR": 0.75, "germane_P_at_1": 0.5}
    assert evaluator.primary_metric == "germane_RR"
    assert "rank of the first" in line["definitions"]["germane_RR"]
    assert (line["germane_RR"], line["steps"]) == (0.75, 7)


def test_sentence_transformers_with_a_stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library is replaced by a module that has the one class."""
    module = ModuleType("sentence_transformers.evaluation")
    module.SentenceEvaluator = type("SentenceEvaluator", (), {})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", ModuleType("sentence_transformers"))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    check_sentences(run("sentence-transformers"))


@pytest.mark.live
@pytest.mark.filterwarnings("ignore")
def test_sentence_transformers() -> None:
    pytest.importorskip("sentence_transformers")
    check_sentences(run("sentence-transformers"))


@pytest.mark.live
@pytest.mark.filterwarnings("ignore")
def test_pytorch() -> None:
    torch = pytest.importorskip("torch")
    names = run("PyTorch")
    model = torch.nn.Linear(2, 3, bias=False)
    with torch.no_grad():
        model.weight[:] = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    batches = [
        (["q1"], torch.tensor([[1.0, 0.0]]), [["a", "b", "c"]]),
        (["q2"], torch.tensor([[0.0, 1.0]]), [["a", "b", "c"]]),
    ]
    qrels = {"q1": {"a": 1}, "q2": {"c": 1}}
    result = names["validate"](model, batches, qrels, "RR")
    assert result.flat() == {"RR": 0.75}
    x = torch.eye(3)
    found = names["validate_embeddings"](x, x, [0, 1, 2], [0, 1, 2])
    assert found.flat()["R_at_1"] == 1.0
    writer = Writer()
    names["log_to_tensorboard"](writer, result, 3)
    assert writer.scalars == {("val/RR", 3): 0.75}
    assert "rank of the first" in writer.texts["val/RR", 3]


class Writer:
    """Keeps what it is given, as the writer of TensorBoard does."""

    def __init__(self) -> None:
        self.scalars: dict[Any, float] = {}
        self.texts: dict[Any, str] = {}

    def add_scalar(self, name: str, value: float, step: int) -> None:
        self.scalars[name, step] = value

    def add_text(self, name: str, text: str, step: int) -> None:
        self.texts[name, step] = text


def check_metrics(names: dict[str, Any]) -> None:
    metrics = names["RankingMetrics"](["q1", "q1", "q2", "q2"], "AP")
    logits, labels = np.array([[0.9], [0.1], [0.3], [0.4]]), np.array([1, 0, 1, 0])
    assert metrics((logits, labels)) == {"AP": 0.75}
    state = SimpleNamespace(log_history=[{"eval_AP": 0.75}])
    metrics.on_evaluate(None, state, None)
    assert state.log_history[0]["definitions"] == {"eval_AP": germane.parse("AP").definition}


def test_transformers_with_a_stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("transformers")
    module.TrainerCallback = type("TrainerCallback", (), {})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "transformers", module)
    check_metrics(run("Hugging Face"))


@pytest.mark.live
@pytest.mark.filterwarnings("ignore")
def test_transformers(tmp_path: Path) -> None:
    """A Trainer logs the numbers, and the definitions beside them."""
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    names = run("Hugging Face")
    check_metrics(names)

    class Model(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(2, 1)

        def forward(self, inputs: Any, labels: Any) -> Any:
            logits = self.layer(inputs)
            return {"loss": ((logits.squeeze(-1) - labels) ** 2).mean(), "logits": logits}

    rows = [{"inputs": torch.rand(2), "labels": torch.tensor(float(at % 2))} for at in range(8)]
    metrics = names["RankingMetrics"]([at // 4 for at in range(8)], "AP")
    options = transformers.TrainingArguments(
        str(tmp_path), num_train_epochs=1, eval_strategy="epoch", report_to=[], use_cpu=True, disable_tqdm=True,
    )  # fmt: skip
    trainer = transformers.Trainer(
        Model(), options, train_dataset=rows, eval_dataset=rows, compute_metrics=metrics, callbacks=[metrics]
    )  # fmt: skip
    trainer.train()
    [logged] = [one for one in trainer.state.log_history if "eval_AP" in one]
    assert logged["definitions"] == {"eval_AP": germane.parse("AP").definition}


class RankedData:
    """A data set as LightGBM and XGBoost hand it to a metric."""

    def __init__(self, labels: list[int], sizes: list[int]) -> None:
        self.labels, self.sizes = np.array(labels), np.array(sizes)

    def get_label(self) -> Any:
        return self.labels

    def get_group(self) -> Any:
        return self.sizes

    def get_uint_info(self, field: str) -> Any:
        assert field == "group_ptr"
        return np.append(0, np.cumsum(self.sizes))


def test_boosting_with_stand_ins(capsys: pytest.CaptureFixture[str]) -> None:
    """Two queries, of two and three rows: the relevant rows are first and second."""
    names = run("LightGBM, XGBoost, CatBoost")
    scores = np.array([0.9, 0.1, 0.2, 0.5, 0.4])
    data = RankedData([1, 0, 0, 0, 1], [2, 3])
    assert names["make_feval"]("RR")(scores, data) == ("RR", 0.75, True)
    assert names["make_custom_metric"]("RR")(scores, data) == ("RR", 0.75)
    metric = names["CatBoostMetric"]("RR", test=[0, 0, 1, 1, 1])
    assert metric.evaluate([scores], data.labels, None) == (0.75, 1.0)
    assert capsys.readouterr().out == 3 * f"RR: {germane.parse('RR').definition}\n"
    names["make_feval"]("nDCG@10")
    assert capsys.readouterr().out.startswith("nDCG_at_10: Σ")


def make_rows() -> tuple[Any, Any, Any]:
    """40 queries of ten rows, whose first column orders them: rows, labels, sizes."""
    rng = np.random.default_rng(0)
    rows = rng.random((400, 3))
    return rows, (rows[:, 0] > 0.7).astype(int), np.full(40, 10)


@pytest.mark.live
@pytest.mark.filterwarnings("ignore")
def test_lightgbm() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    rows, labels, sizes = make_rows()
    train = lightgbm.Dataset(rows, labels, group=sizes)
    valid = lightgbm.Dataset(rows, labels, group=sizes, reference=train)
    seen: dict[str, Any] = {}
    lightgbm.train(
        {"objective": "lambdarank", "verbose": -1, "metric": "None"},
        train,
        num_boost_round=5,
        valid_sets=[valid],
        feval=run("LightGBM, XGBoost, CatBoost")["make_feval"]("nDCG@10"),
        callbacks=[lightgbm.record_evaluation(seen)],
    )
    assert seen["valid_0"]["nDCG_at_10"][-1] > 0.9


@pytest.mark.live
@pytest.mark.filterwarnings("ignore")
def test_xgboost() -> None:
    xgboost = pytest.importorskip("xgboost")
    rows, labels, sizes = make_rows()
    data = xgboost.DMatrix(rows, labels)
    data.set_group(sizes)
    seen: dict[str, Any] = {}
    xgboost.train(
        {"objective": "rank:ndcg", "disable_default_eval_metric": 1},
        data,
        num_boost_round=5,
        evals=[(data, "valid")],
        evals_result=seen,
        custom_metric=run("LightGBM, XGBoost, CatBoost")["make_custom_metric"]("nDCG@10"),
        maximize=True,
        verbose_eval=False,
    )
    assert seen["valid"]["nDCG_at_10"][-1] > 0.9


@pytest.mark.live
@pytest.mark.filterwarnings("ignore")
def test_catboost(tmp_path: Path) -> None:
    catboost = pytest.importorskip("catboost")
    rows, labels, sizes = make_rows()
    group = np.repeat(np.arange(len(sizes)), sizes)
    metric = run("LightGBM, XGBoost, CatBoost")["CatBoostMetric"]("nDCG@10", all_rows=group)
    model = catboost.CatBoost(
        {
            "loss_function": "YetiRank",
            "iterations": 5,
            "eval_metric": metric,
            "verbose": False,
            "train_dir": str(tmp_path),
        }
    )
    pool = catboost.Pool(rows, labels, group_id=group)
    model.fit(pool, eval_set=pool)
    [values] = [v for k, v in model.get_evals_result()["validation"].items() if "Metric" in k]
    assert values[-1] > 0.9


def make_candidates() -> tuple[Any, Any]:
    """64 queries × 100 candidates: features (64·100, 4) and labels (64, 100)."""
    rng = np.random.default_rng(1)
    features = rng.random((64 * 100, 4)).astype(np.float32)
    return features, (features[:, 0] > 0.9).astype(int).reshape(64, 100)


@pytest.mark.live
@pytest.mark.filterwarnings("ignore")
def test_keras(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    keras = pytest.importorskip("keras")
    features, labels = make_candidates()
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, activation="sigmoid")])
    model.compile(loss="binary_crossentropy")
    callback = run("Keras")["RankingCallback"](features, labels, "RR@10")
    history = model.fit(
        features, labels.reshape(-1), epochs=2, verbose=0, batch_size=640, callbacks=[callback]
    )
    assert [0 <= value <= 1 for value in history.history["val_RR_at_10"]] == [True, True]
    assert history.params["definitions"]["val_RR_at_10"].startswith("1 ÷ rank of the first")


@pytest.mark.live
@pytest.mark.filterwarnings("ignore")
def test_lightning(tmp_path: Path) -> None:
    lightning = pytest.importorskip("lightning")
    torch = pytest.importorskip("torch")
    features, labels = make_candidates()

    class Model(lightning.LightningModule):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)
            with torch.no_grad():
                self.layer.weight[:] = torch.tensor([[1.0, 0.0, 0.0, 0.0]])

        def validation_step(self, batch: Any, batch_idx: int) -> Any:  # noqa: ARG002
            rows, marked = batch
            return {"scores": self.layer(rows).squeeze(-1), "labels": marked}

    data = torch.utils.data.TensorDataset(
        torch.tensor(features.reshape(64, 100, 4)), torch.tensor(labels)
    )
    logger = lightning.pytorch.loggers.CSVLogger(tmp_path)
    callback = run("PyTorch Lightning")["RankingCallback"]("nDCG@10 P@1")
    trainer = lightning.Trainer(
        accelerator="cpu", logger=logger, callbacks=[callback], enable_progress_bar=False,
        enable_model_summary=False,
    )  # fmt: skip
    [found] = trainer.validate(
        Model(), torch.utils.data.DataLoader(data, batch_size=16), verbose=False
    )
    assert found == {"val_nDCG_at_10": pytest.approx(1.0), "val_P_at_1": pytest.approx(1.0)}
    assert "÷" in callback.definitions["val_nDCG_at_10"]


def read_tracker(name: str) -> dict[str, Any]:
    """Run the block of the trackers' section that imports this library."""
    blocks = re.findall(r"^```py\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    exec(next(block for block in blocks if block.startswith(f"import {name}\n")), names)
    return names


class Tracker:
    """Keeps what it is given, as a run of Weights & Biases does, and as MLflow."""

    def __init__(self) -> None:
        self.logged: dict[str, Any] = {}
        self.config = self

    def log(self, values: Any, step: Any) -> None:  # noqa: ARG002
        self.logged |= values

    def update(self, values: Any, allow_val_change: bool) -> None:  # noqa: ARG002
        self.logged |= values

    log_metrics = log

    def set_tags(self, values: Any) -> None:
        self.logged |= values


def test_trackers_with_stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    result, tracker = germane.evaluate({"q": ["d"]}, {"q": ["d"]}, "RR@10"), Tracker()
    monkeypatch.setitem(sys.modules, "wandb", ModuleType("wandb"))
    read_tracker("wandb")["log_to_wandb"](tracker, result, prefix="test/")
    assert tracker.logged["test/RR_at_10"] == 1.0
    assert "rank of the first" in tracker.logged["definitions"]["test/RR_at_10"]
    monkeypatch.setitem(sys.modules, "mlflow", tracker)  # type: ignore[arg-type]
    read_tracker("mlflow")["log_to_mlflow"](result)
    assert "rank of the first" in tracker.logged["RR_at_10 is"]


@pytest.mark.live
@pytest.mark.filterwarnings("ignore")
def test_mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    result = germane.evaluate({"q": ["d"]}, {"q": ["d"]}, "RR@10")
    with mlflow.start_run() as made:
        read_tracker("mlflow")["log_to_mlflow"](result, step=1)
    data = mlflow.get_run(made.info.run_id).data
    assert data.metrics["RR_at_10"] == 1.0
    assert "rank of the first" in data.tags["RR_at_10 is"]


@pytest.mark.live
@pytest.mark.filterwarnings("ignore")
def test_wandb(tmp_path: Path) -> None:
    wandb = pytest.importorskip("wandb")
    result = germane.evaluate({"q": ["d"]}, {"q": ["d"]}, "RR@10")
    with wandb.init(mode="offline", dir=tmp_path, project="test") as made:
        read_tracker("wandb")["log_to_wandb"](made, result)
        assert made.summary["RR_at_10"] == 1.0
        assert "rank of the first" in made.config["definitions"]["RR_at_10"]


@pytest.mark.live
@pytest.mark.filterwarnings("ignore")
def test_ir_measures_provider() -> None:
    ir_measures = pytest.importorskip("ir_measures")
    qrels = {"1": {"a": 1, "b": 2, "c": 0}, "2": {"a": 1}, "3": {"b": 1}}
    ranked = {"1": {"b": 0.5, "x": 0.6, "a": 0.1}, "2": {"a": 0.3, "z": 0.9}}
    names = "AP AP@10 nDCG@10 P(rel=2)@5 R@10 RR RR@10 SetF P(judged_only=True)@5 ERR@10 NumRet"
    measures = [ir_measures.parse_measure(name) for name in names.split()]
    before = list(ir_measures.DefaultPipeline.providers)
    theirs = [ir_measures.calc_aggregate([one], qrels, ranked)[one] for one in measures]
    try:
        run("ir_measures and PyTerrier")
        ours = ir_measures.calc_aggregate(measures, qrels, ranked)
        assert ir_measures.DefaultPipeline.providers[0].NAME == "germane"
    finally:
        ir_measures.DefaultPipeline.providers[:] = before
    assert [ours[one] for one in measures] == pytest.approx(theirs, abs=1e-9)
