"""The diffs of the page on extending, on a copy of the package: one file and one line each."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from support.forked import Child

from kgqa.graph.load import open_graph
from kgqa.trainer.pretraining import find_objective

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "extend.md").read_text(encoding="utf-8")
DIFFS = {
    title: diff
    for title, _, section in (
        part.partition("\n") for part in re.split(r"^## Add an? ", PAGE, flags=re.MULTILINE)
    )
    for diff in re.findall(r"^```diff\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
}
"""By the heading of their section."""
START = """
import sys
sys.path.insert(0, folder)
for name in [name for name in sys.modules if name.partition(".")[0] == "kgqa"]:
    del sys.modules[name]
from kgqa.graph.storage.import_graph import import_graph
from kgqa.graph.storage.store import GraphStore
def imported(file):
    import_graph([f"{folder}/{file}"], f"{folder}/{file}-graph")
    return GraphStore.open(f"{folder}/{file}-graph")
"""
RUN = {
    "reasoner": """
from kgqa.models.reasoners import find_reasoner
assert find_reasoner("mean", from_card=True).__name__ == "Mean"  # tests/test_external_reasoner.py trains it
""",
    "encoder variant": """
import torch
from kgqa.models.encoders.variants import EncoderSettings, build_language_model, find_variant
sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
model = build_language_model(EncoderSettings(variant="convbert", **sizes), 32)
ids = torch.arange(5, 29).view(2, 12)
states = model.base_model(ids).last_hidden_state
assert torch.allclose(find_variant("convbert").predict(model, states), model(ids).logits)
""",
    "objective": """
import torch
from kgqa.batch import TextBatch
from kgqa.trainer.pretraining import PretrainingRecipe, build_objective
from kgqa.types import InputError
sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
def built(name="smooth_mlm", **options):
    recipe = {"encoder": {"variant": "bert", **sizes}, "data": {"sources": {"a": 1.0}}}
    recipe["objective"] = {"name": name, "options": options}
    return build_objective(PretrainingRecipe.model_validate(recipe), 32, print)
def loss(**options):
    objective = built(**options)
    torch.manual_seed(0)
    return objective(TextBatch(torch.arange(5, 29).view(2, 12))).total
assert loss(smoothing=0.0) == loss(name="mlm") != loss()
loss().backward()
for wrong in ({"smoothness": 0.1}, {"name": "mlm", "smoothing": 0.1}, {"name": "rtt"}):
    try:
        built(**wrong)
    except (InputError, ValueError) as error:
        assert "objective" in str(error), error
    else:
        raise AssertionError(wrong)
""",
    "graph format": """
graph = imported("garden.pl")
assert graph.edge_count == 2 and len(graph.find(["trowel"])[0]) == 1
""",
    "language": """
from kgqa.graph.linking.linker import Linker
from kgqa.graph.retrieval.ranking import asked_in_english
from kgqa.language.detect import question_language
from kgqa.language.wording import answer_phrase
from kgqa.validation import checked_language
question = "Con che cosa pianto i fiori?"
assert question_language(question) == checked_language("it") == "it"
assert asked_in_english(question, "it") == "with what tool"
assert answer_phrase("it", "yes") == "sì" and answer_phrase("it", "choice") == "chosen"
(found,) = Linker(imported("garden.ttl")).link_many([question], "it")
assert [question[m.start : m.end] for m in found] == ["pianto", "fiori"], found
""",
    "question set": """
from pathlib import Path
from kgqa.data.datasets.load import load_dataset
(example,) = load_dataset("quiz-dev", Path(folder))
assert example.question.text == "What digs?" and example.concepts == ("spade",)
""",
}
"""What each diff does where it is applied, by the heading above it."""
FILES = {
    "garden.pl": "used_for(trowel, planting).\nused_for(spade, digging).\n",
    "garden.ttl": """@prefix ex: <http://x/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:plant rdfs:label "piantare"@it ; ex:needs ex:flower . ex:flower rdfs:label "fiore"@it .""",
    "quiz/dev.jsonl": json.dumps({"asked": "What digs?", "reply": "spade"}),
}


def test_the_page_on_contributing_shows_the_lines_of_these_diffs() -> None:
    (shown,) = re.findall(
        r"^```diff\n(.*?)^```", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    applied = [line for diff in DIFFS.values() for line in diff.splitlines() if line.startswith("+")]
    new = [
        line for diff in DIFFS.values() for line in re.findall(r"^--- /dev/null\n(.*)$", diff, re.MULTILINE)
    ]
    assert len(new) == len(DIFFS) and {*new} < {*shown.splitlines()} <= {*applied}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with all diffs applied, and the files that are read with it."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "kgqa", folder / "kgqa", ignore=shutil.ignore_patterns("__pycache__"))
    for name, content in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    for diff in DIFFS.values():
        subprocess.run(["git", "apply", "-"], input=diff, cwd=folder, text=True, check=True)
    return folder


@pytest.mark.parametrize("name", RUN)
def test_one_file_and_one_line(name: str, folder: Path) -> None:
    lines = [line[0] for line in DIFFS[name].splitlines() if not line.startswith(("+++", "---"))]
    assert DIFFS[name].count("\n--- ") == 1 and DIFFS[name].count("--- /dev/null") == 1
    assert lines.count("-") <= 1
    child = Child(START + RUN[name], folder=str(folder))
    assert child.end() == (0, "")


def test_what_each_section_adds_is_run() -> None:
    assert DIFFS.keys() == RUN.keys()


def test_installed_packages_bring_formats_and_objectives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "stranger_parts.py").write_text(
        "from kgqa.graph.formats import GraphFormat\nfrom kgqa.objectives.pretraining.mlm import MLM\n"
        "from kgqa.types import Triple\n\n\nclass Own(MLM):\n    encoders = ('permuted',)\n\n\n"
        "FORMAT = GraphFormat(lambda path, tally, options: [Triple('a', 'r', 'b')], ('.own',))\n"
    )
    installed = tmp_path / "stranger_parts-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger_parts\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text(
        "[kgqa.graph_formats]\nown = stranger_parts:FORMAT\n[kgqa.objectives]\nown = stranger_parts:Own\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "a.own").write_text("anything")
    assert open_graph(tmp_path / "a.own").edge_count == 1  # type: ignore[attr-defined]
    assert find_objective("own").encoders == ("permuted",)
