"""The map by which a multilingual reader finds facts: `python training/fact_map.py FOLDER`.

From the states of an encoder's layer to the vectors that kgqa-facts gives the same texts in English, so that the index
of facts made by kgqa-facts serves questions in any language: a transformer layer and a linear map, which begins as the
ridge regression of the mean vectors. Fitted on English training questions, facts and labels, on questions and labels
in other languages that are parallel to English ones, and on English ones with words of another language among them
(Qin et al., 2020, CoSDA-ML, section 3). Written into FOLDER, a reader's, whose card is written anew, or that of an
encoder that training starts from. `--recall FILE ...` measures, for each file of questions, the share whose answer is
among the first 10, 20, 50 and 120 concepts retrieved, by labels alone and with the map.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from kgqa.data.datasets.load import load_dataset
from kgqa.graph.load import open_graph
from kgqa.graph.storage.store import GraphStore
from kgqa.models.collation.input_config import InputConfig
from kgqa.models.dense_retrieval import FactEncoder, verbalize_facts
from kgqa.models.devices import matmul_precision
from kgqa.models.fact_map import FactMap, MappedEncoder, apply_map, save_map
from kgqa.models.pretrained import CARD, load_config, write_card
from kgqa.models.reader import read_card
from kgqa.progress import track
from kgqa.qa.retrieve import Retriever
from kgqa.settings import FACT_ENCODER, find_encoder
from kgqa.trainer.finetuning.fact_encoder import query_of
from kgqa.types import Edges, Example, NodeRole

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this folder is beside the package
from training.pack import packed

DATA = Path(__file__).parent / "data"
LANGUAGES = ("de", "es", "fr", "ja", "ko")
QUESTIONS, FACTS, LABELS = 6_000, 6_000, 10_000
"""English questions, facts and labels in other languages, drawn at random; parallel questions are taken all."""
SWITCHED = 2_000
"""Questions and facts for each language with words of it among the English ones."""
RIDGE, LAYER, HEADS = 0.3, 6, 12
MINUTES, BATCH, RATE, TEMPERATURE = 15.0, 96, 3e-4, 0.05
COSINE, CONTRAST = 8.0, 0.3
"""Weights of the two losses."""
AT_ONCE = 500
PLACES = (10, 20, 50, 120)

Pair = tuple[str, str, float]
"""A text, what it says in English, and how often it is drawn."""


def pairs(graph: GraphStore) -> list[Pair]:
    """All that the map is fitted on."""
    draw = random.Random(0)
    files = sorted((DATA / "everyday" / "train").glob("*.jsonl"))
    english = {e.question.id: query_of(e) for path in files for e in load_dataset(str(path))}
    rows = np.sort(np.random.default_rng(0).choice(graph.edge_count, FACTS, replace=False))
    facts = verbalize_facts(graph, Edges(*(column[rows] for column in graph.edges())))
    same = draw.sample(list(english.values()), QUESTIONS) + facts
    known = labels(graph)
    words = {code: {said.lower(): text for text, said, own in known if own == code} for code in LANGUAGES}
    switched = [
        (mixed, text, 1.0)
        for code in LANGUAGES
        for text in draw.sample(same, SWITCHED)
        if (mixed := code_switched(text, words[code])) != text
    ]
    return [
        *((text, said, 3.0) for text, said in parallel_questions(english)),
        *((text, said, 0.5) for text, said, _ in draw.sample(known, LABELS)),
        *((text, text, 1.0) for text in same),
        *switched,
    ]


def code_switched(text: str, words: Mapping[str, str]) -> str:
    """An English text whose words are replaced by those of another language, where one is known.

    >>> code_switched("Dogs dig in the garden.", {"dog": "Hund", "garden": "Garten"})
    'Hund dig in the Garten.'
    """
    return re.sub(
        r"[A-Za-z]+",
        lambda word: next((words[form] for form in base_forms(word[0].lower()) if form in words), word[0]),
        text,
    )


def base_forms(word: str) -> Iterator[str]:
    """A word, and what it may be an inflection of."""
    yield word
    for ending, other in (
        ("s", ""),
        ("es", ""),
        ("ies", "y"),
        ("ed", ""),
        ("d", ""),
        ("ing", ""),
        ("ing", "e"),
    ):
        if word.endswith(ending):
            yield word.removesuffix(ending) + other


def parallel_questions(english: dict[str, str]) -> list[tuple[str, str]]:
    """Training questions in other languages; an id is that of the English question and the language."""
    sets = {code: DATA / "languages" / "train" / f"everyday_{code}.jsonl" for code in LANGUAGES}
    return [
        (query_of(example), said)
        for code, path in sets.items()
        for example in load_dataset(str(path))
        if (said := english.get(example.question.id.removesuffix(f"-{code}")))
    ]


def labels(graph: GraphStore) -> list[tuple[str, str, str]]:
    """Labels of the graph's concepts in other languages, in English, and the language."""
    ids = np.arange(graph.entity_count, dtype=np.int32)
    return [
        (label.text, english, label.language)
        for entity, english in zip(ids.tolist(), graph.labels(ids), strict=True)
        for label in graph.all_labels(entity)
        if label.language in LANGUAGES
    ]


def encoded(encoder: FactEncoder, texts: Sequence[str]) -> NDArray[np.float32]:
    """Unit vectors (n, d), with a bar of progress; texts of like length are read together."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    parts = [order[at : at + AT_ONCE] for at in range(0, len(order), AT_ONCE)]
    vectors = np.concatenate([encoder.encode([texts[i] for i in part]) for part in track(parts, "encoding")])
    return vectors[np.argsort(order)]


def read_states(encoder: MappedEncoder, texts: Sequence[str]) -> list[Tensor]:
    """States (T, d) of each text, in half precision; texts of like length are read together."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    found: dict[int, Tensor] = {}
    for at in track(range(0, len(order), BATCH), "reading"):
        rows = order[at : at + BATCH]
        batch = encoder.tokens([texts[i] for i in rows])
        with torch.inference_mode(), matmul_precision(torch.device("cpu"), encoder.precision):
            states = encoder.states(batch).half()
        assert batch.attention_mask is not None
        for i, of, size in zip(rows, states, batch.attention_mask.sum(1).tolist(), strict=True):
            found[i] = of[:size].clone()
    return [found[i] for i in range(len(texts))]


def fit(folder: Path, graph: GraphStore, layer: int, minutes: float) -> None:
    """Fit the map of a reader, or of an encoder alone, and write it into its folder."""
    facts, size = FactEncoder.load(FACT_ENCODER), load_config(folder).hidden_size
    encoder = MappedEncoder.load_mapped(str(folder), FactMap(torch.eye(size + 1, size), "", layer))
    texts = pairs(graph)
    states = read_states(encoder, [text for text, *_ in texts])
    targets = encoded(facts, [said for _, said, _ in texts])
    below = encoder.encoder.get_submodule("encoder.layer")[layer].state_dict()  # type: ignore[index]
    often = torch.tensor([weight for *_, weight in texts])
    found = train_top(states, torch.from_numpy(targets), often, of_bert(below), minutes)
    save_map(found._replace(space=facts.fingerprint, layer=layer, top=packed(found.top)), folder)
    if (folder / CARD).is_file():
        write_card(folder, read_card(folder))


def of_bert(layer: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights of a layer of BERT under the names of torch's own transformer layer."""
    of = {
        "attention.output.dense": "self_attn.out_proj",
        "attention.output.LayerNorm": "norm1",
        "intermediate.dense": "linear1",
        "output.dense": "linear2",
        "output.LayerNorm": "norm2",
    }
    found = {
        f"{new}.{part}": layer[f"{old}.{part}"].float()
        for old, new in of.items()
        for part in ("weight", "bias")
    }
    for part in ("weight", "bias"):
        three = [layer[f"attention.self.{name}.{part}"].float() for name in ("query", "key", "value")]
        found[f"self_attn.in_proj_{part}"] = torch.cat(three)
    return found


def fit_map(vectors: NDArray[np.floating], targets: NDArray[np.floating], ridge: float) -> Tensor:
    """The map (d + 1, e) from vectors (n, d) to targets (n, e), by ridge regression; its last row is not penalized.

    >>> points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> (fit_map(points, 2 * points + 1, ridge=1e-6) - torch.tensor([[2, 0], [0, 2], [1, 1]])).abs().max().item() < 1e-4
    True
    """
    x, y = np.asarray(vectors, dtype=np.float64), np.asarray(targets, dtype=np.float64)
    centre, goal = x.mean(0), y.mean(0)
    x = x - centre
    weight = np.linalg.solve(x.T @ x + ridge * np.eye(x.shape[1]), x.T @ (y - goal))
    return torch.from_numpy(np.vstack([weight, goal - centre @ weight]).astype(np.float32))


def train_top(
    states: Sequence[Tensor], targets: Tensor, often: Tensor, top: Mapping[str, Tensor], minutes: float
) -> FactMap:
    """A map from states (T, d) of texts to targets (n, e): a transformer layer that begins as `top`, and a linear map.

    The loss is the cosine to the target, and a softmax over the targets of the batch (van den Oord et al., 2018).
    """
    torch.manual_seed(0)
    means = F.normalize(torch.stack([text.float().mean(0) for text in states]), dim=-1)
    weight = nn.Parameter(fit_map(means.numpy(), targets.numpy(), RIDGE))
    layer = FactMap(weight, "", 0, top).new_top(HEADS)
    assert layer is not None
    optimizer = torch.optim.AdamW(
        [{"params": layer.parameters(), "lr": RATE}, {"params": [weight], "lr": 5 * RATE}], weight_decay=0.01
    )
    begin, spent = time.monotonic(), 0.0
    rate = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / 50, max(0.02, 1 - spent))
    )
    while (spent := (time.monotonic() - begin) / (60 * minutes)) < 1:
        drawn = torch.multinomial(often, BATCH * 16, replacement=True).tolist()
        drawn.sort(key=lambda i: len(states[i]))
        for number in torch.randperm(16).tolist():
            rows = drawn[number * BATCH : (number + 1) * BATCH]
            batch = pad_sequence([states[i].float() for i in rows], batch_first=True)
            absent = torch.arange(batch.shape[1]) >= torch.tensor([len(states[i]) for i in rows])[:, None]
            batch = F.dropout(batch, 0.1)
            read = layer(batch, src_key_padding_mask=absent).masked_fill(absent.unsqueeze(-1), 0)
            mean = F.normalize(read.sum(1) / (~absent).sum(1, keepdim=True), dim=-1)
            vectors, goal = F.normalize(apply_map(mean, weight), dim=-1), targets[rows]
            alike = (goal @ goal.T > 0.98) & ~torch.eye(BATCH, dtype=torch.bool)
            scores = (vectors @ goal.T / TEMPERATURE).masked_fill(alike, -1e4)
            loss = CONTRAST * F.cross_entropy(scores, torch.arange(BATCH))
            loss = loss + COSINE * (1 - (vectors * goal).sum(-1)).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
            optimizer.step()
            rate.step()
        print(f"{100 * spent:.0f}%: loss {loss.item():.3f}", file=sys.stderr, flush=True)
    return FactMap(
        weight.detach(), "", 0, {name: value.detach() for name, value in layer.state_dict().items()}
    )


def place_of_answer(retriever: Retriever, example: Example) -> int:
    """How many concepts stand before the first that answers, those that the texts mention last, as candidates are
    chosen; at least the number of concepts where none does."""
    (graph,) = retriever.find(example.question)
    known = {int(entity) for ids in retriever.whole.find(list(example.golds)) for entity in ids}
    entities = retriever.whole.ids(list(graph.nodes)).tolist()
    order = np.lexsort((-graph.scores, graph.roles != int(NodeRole.OTHER))).tolist()
    return next((n for n, node in enumerate(order) if entities[node] in known), PLACES[-1])


def recall(folder: Path, graph: GraphStore, files: Sequence[str]) -> None:
    """Print the shares for each file."""
    facts = FactEncoder.load(FACT_ENCODER)
    settings = InputConfig(max_nodes=PLACES[-1], multilingual=True)
    of_map = {"labels": None, "labels and map": MappedEncoder.load_mapped(str(folder))}
    print("questions", "found by", *PLACES, sep="\t")
    for file in files:
        asked = [e for e in load_dataset(file) if e.concepts and not e.question.choices]
        for name, encoder in of_map.items():
            retriever = Retriever(graph, settings, encoder=facts, question_encoder=encoder)
            places = np.array([place_of_answer(retriever, example) for example in asked])
            shares = [f"{100 * (places < most).mean():.1f}" for most in PLACES]
            print(f"{Path(file).stem} ({len(asked)})", name, *shares, sep="\t", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder")
    parser.add_argument("--recall", nargs="+", metavar="FILE", help="only measure, over these questions")
    parser.add_argument(
        "--layer", type=int, default=LAYER, help="layer of the encoder whose states are mapped"
    )
    parser.add_argument("--minutes", type=float, default=MINUTES, help="of training the layer on top")
    given = parser.parse_args()
    everyday = open_graph("everyday")
    assert isinstance(everyday, GraphStore)
    if given.recall:
        with torch.inference_mode():
            recall(find_encoder(given.folder), everyday, given.recall)
    else:
        fit(find_encoder(given.folder), everyday, given.layer, given.minutes)
