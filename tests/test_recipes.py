"""The blocks of docs/recipes.md whose libraries take long to install; test_docs runs the others."""

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "recipes.md").read_text("utf-8")


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
    assert evaluator(Model()) == {"germane_RR": 0.75, "germane_P_at_1": 0.5}
    assert evaluator.primary_metric == "germane_RR"


def test_sentence_transformers_with_a_stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library is replaced by a module that has the one class."""
    module = ModuleType("sentence_transformers.evaluation")
    module.SentenceEvaluator = type("SentenceEvaluator", (), {})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", ModuleType("sentence_transformers"))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    check_sentences(run("sentence-transformers"))


@pytest.mark.live
def test_sentence_transformers() -> None:
    pytest.importorskip("sentence_transformers")
    check_sentences(run("sentence-transformers"))


@pytest.mark.live
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
    assert names["validate"](model, batches, qrels, "RR") == {"RR": 0.75}
    x = torch.eye(3)
    assert names["validate_embeddings"](x, x, [0, 1, 2], [0, 1, 2])["R_at_1"] == 1.0
