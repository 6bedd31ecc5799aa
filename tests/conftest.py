"""A tiny world for the tests: a tokenizer, an encoder and a graph of everyday tools."""

from __future__ import annotations

import importlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import settings

from kgqa.limits.sandbox import run_sandboxed
from kgqa.types import Link, NodeRole, Relation, Subgraph

os.environ.setdefault("KGQA_PRECISION", "fp32")  # the same figures on every processor
# The same examples in every run, so that a test fails for a change alone; new ones with --hypothesis-profile=fuzz.
settings.register_profile("same", derandomize=True)
settings.register_profile("fuzz", max_examples=5000, deadline=None)
settings.load_profile("same")

SLOWEST = (
    "apps/browser",
    "test_readme.py",
    "test_growth.py",
    "serving",
    "test_notebooks.py",
    "apps",
    "trainer",
    "models",
    "cli",
    "test_",
)
"""Where the slowest tests are, in the order in which workers take them: so all end at about the same time."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One worker gets all tests of a file, which share what they open."""

    def turn(item: pytest.Item) -> int:
        path = item.path.relative_to(Path(__file__).parent).as_posix()
        return next((at for at, start in enumerate(SLOWEST) if path.startswith(start)), len(SLOWEST))

    items.sort(key=turn)
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


WORDS = (
    "i want to plant flowers build a house so dug the ground what did with trowel excavator dig is used for "
    "tool machine foundation has instrument step bee honey hive smoker calm bees who where why . ? , garden "
    "needs red blue shovel first then he she they flower hole in at of and it was"
)


def run_here(
    task: str, subject: str, limits: object = None, content: bytes | None = None, **asked: object
) -> object:
    """As `run_sandboxed`, without the child that keeps what exhausts a parser from this process."""
    module, _, name = task.partition(":")
    return getattr(importlib.import_module(module), name)(*([] if content is None else [content]), **asked)


@pytest.fixture(scope="session", autouse=True)
def imported_here() -> Iterator[None]:
    """Graphs are imported in the process of the tests, which takes a tenth of what starting a child takes."""
    from kgqa.graph.storage import import_graph

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_graph, "run_sandboxed", run_here)
        yield


@pytest.fixture
def imported_in_child(monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs are imported in a child, as outside of tests: for what ends a child, or is asked to end it."""
    from kgqa.graph.storage import import_graph

    monkeypatch.setattr(import_graph, "run_sandboxed", run_sandboxed)


@pytest.fixture
def edit_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """A function that has a module (or package) read its files from a copy, in which a table says something else."""
    from kgqa import fingerprint
    from kgqa.verbalize.fact_sentences import read_lexicon

    def forget() -> None:  # as a new process
        fingerprint._text.cache_clear()
        read_lexicon.cache_clear()

    def edit(module: ModuleType, table: str, before: str, after: str) -> None:
        own = Path(str(module.__file__))
        copy = Path(tempfile.mkdtemp(dir=tmp_path)) / own.parent.name
        shutil.copytree(own.parent, copy)
        text = (copy / table).read_text(encoding="utf-8")
        assert text.count(before) == 1, before
        (copy / table).write_text(text.replace(before, after), encoding="utf-8")
        monkeypatch.setattr(module, "__file__", str(copy / own.name))
        forget()

    yield edit
    forget()


@pytest.fixture(scope="session")
def tokenizer_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A word-level tokenizer in Hugging Face form."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    letters = [chr(c) for c in range(ord("a"), ord("z") + 1)]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *dict.fromkeys(WORDS.split())]
    pieces += [p for c in letters for p in (c, f"##{c}") if p not in pieces]
    tokenizer = Tokenizer(models.WordPiece({p: i for i, p in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    folder = tmp_path_factory.mktemp("tokenizer")
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}')
    return folder


@pytest.fixture(scope="session")
def tokenizer(tokenizer_folder: Path):
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(tokenizer_folder / "tokenizer.json"))


@pytest.fixture
def encoder(tokenizer):
    """Two ELECTRA layers of width 32, seeded."""
    import torch
    from transformers import ElectraConfig, ElectraModel

    torch.manual_seed(0)
    config = ElectraConfig(
        vocab_size=tokenizer.get_vocab_size(),
        embedding_size=16,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=128,
    )
    return ElectraModel(config).eval()


@pytest.fixture
def encoder_folder(encoder, tokenizer_folder: Path, tmp_path: Path) -> Path:
    """The encoder with its tokenizer, saved."""
    folder = shutil.copytree(tokenizer_folder, tmp_path / "encoder")
    encoder.save_pretrained(folder)
    return folder


@pytest.fixture
def causal_folder(tokenizer, tokenizer_folder: Path, tmp_path: Path) -> Path:
    """A causal language model of two layers with its tokenizer, saved."""
    import torch

    from kgqa.models.encoders.variants import EncoderSettings, build_language_model, save_model

    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    settings = EncoderSettings(variant="gpt2", max_position_embeddings=128, **sizes)  # type: ignore[arg-type]
    folder = shutil.copytree(tokenizer_folder, tmp_path / "causal")
    save_model(build_language_model(settings, tokenizer.get_vocab_size()), folder)
    return folder


USED_FOR = Relation("rel:UsedFor", "used for", "is used for")
STEP = Relation("rel:HasSubevent", "has step", "has step")


@pytest.fixture
def digging() -> Subgraph:
    """plant flowers <-used for- trowel; build house -step-> dig foundation <-used for- excavator."""
    return Subgraph(
        nodes=("ev:plant", "ev:build", "ev:trowel", "ev:excavator", "ev:foundation"),
        labels=("plant flowers", "build house", "trowel", "excavator", "dig foundation"),
        roles=np.array([1, 1, 3, 3, 3], dtype=np.int32),
        scores=np.array([1.0, 1.0, 0.5, 0.4, 0.3], dtype=np.float32),
        edges=np.array([[2, 0, 0], [1, 1, 4], [3, 0, 4]], dtype=np.int32),
        weights=np.array([2.0, 1.0, 1.0], dtype=np.float32),
        relations=(USED_FOR, STEP),
        links=(Link(NodeRole.PASSAGE, 10, 23, 0),),
    )


@pytest.fixture
def tools_file(tmp_path: Path) -> Path:
    """A small custom graph, as a Turtle file."""
    path = tmp_path / "tools.ttl"
    path.write_text(
        """
        @prefix ex: <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        ex:plant rdfs:label "plant flowers" . ex:build rdfs:label "build a house" .
        ex:trowel rdfs:label "trowel" ; ex:usedFor ex:plant .
        ex:excavator rdfs:label "excavator" ; ex:usedFor ex:foundation .
        ex:foundation rdfs:label "dig the foundation" .
        ex:build ex:hasStep ex:foundation . ex:usedFor rdfs:label "is used for" .
        """,
        encoding="utf-8",
    )
    return path


@pytest.fixture
def model_folder(tmp_path: Path, encoder, tokenizer_folder: Path) -> Path:
    """A reader with random weights, saved."""
    import torch

    from kgqa.models.reader import Reader, save_reader
    from kgqa.models.reasoners import ReasonerSettings

    torch.manual_seed(0)
    reader = Reader(encoder, ReasonerSettings(graph_size=16, num_layers=2, num_heads=2))
    save_reader(reader, tokenizer_folder, tmp_path / "model", {"name": "toy", "max_nodes": 20})
    return tmp_path / "model"


@pytest.fixture
def served() -> Callable[..., AbstractContextManager[str]]:
    """Serves an answerer over HTTP on a free port of this machine, and gives the address."""

    @contextmanager
    def opened(answerer) -> Iterator[str]:
        import socket
        import threading
        import time
        import urllib.request

        import uvicorn

        from kgqa.serving.api import create_service

        listener = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(
            create_service(lambda: {(answerer.name, answerer.graph.name): answerer}, eager=True),
            log_config=None,
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{url}/ready", timeout=5).close()
                break
            except OSError:
                time.sleep(0.1)
        yield url
        server.should_exit = True
        thread.join(30)

    return opened
