"""`kgqa pretrain`: from a recipe to an encoder. Tokenizer and shards are built once and stored with the run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, islice, zip_longest
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer

from kgqa.batch import TextBatch
from kgqa.data.corpus.shards import (
    JOINT,
    Corpus,
    Document,
    PairMaker,
    PairTask,
    find_text,
    is_held_out,
    read_documents,
    thinned,
    write_corpus,
)
from kgqa.data.corpus.tokenizer import check_special_tokens, load_tokenizer, save_tokenizer, train_tokenizer
from kgqa.data.corpus.verbalize import fact_documents, read_facts
from kgqa.fingerprint import fingerprint
from kgqa.graph.linking.fuzzy import fuzzy_linker
from kgqa.graph.load import open_graph
from kgqa.graph.retrieval.subgraph import retrieve
from kgqa.models.collation.collate import Collator
from kgqa.models.collation.input_config import InputConfig
from kgqa.models.entity_vectors import FILE as ENTITIES
from kgqa.models.entity_vectors import load_entities
from kgqa.objectives.base import Batches
from kgqa.progress import track
from kgqa.settings import cache_folder, data_path
from kgqa.trainer.checkpoint import claim, flat, refuse_other, weights_of
from kgqa.trainer.data.held_out import held_out_loss
from kgqa.trainer.data.mixture import DataSettings, MixedBatches, MixturePart
from kgqa.trainer.data.subgraph_cache import cache_key, cached_subgraphs
from kgqa.trainer.loop import TrainResult, check_measured, train
from kgqa.trainer.pretraining.assemble import OBJECTIVES, CorpusSettings, PretrainingRecipe, build_objective
from kgqa.trainer.recipe import save_recipe
from kgqa.types import Example, InputError, Passage, Question

# Text with subgraphs for pretraining: passages of the corpus, the concepts mentioned in them, and their facts.


LETTERS_OF_A_TOKEN = 4
HELD_OUT_PASSAGES = 200


def grounded_batches(
    data: CorpusSettings, sources: Iterable[Iterator[Document]], tokenizer: Tokenizer, split: str, seed: int
) -> MixedBatches:
    """Batches of passages with subgraphs, as `QABatch`es without a question; subgraphs are cached on disk."""
    graph = open_graph(data.graph)
    linker = fuzzy_linker(graph)
    count = data.passages if split == "train" else min(data.passages // 8, HELD_OUT_PASSAGES)
    kept = (
        document
        for document in in_turn(sources)
        if is_held_out(document, data.held_out) == (split == "held_out")
    )
    texts = (text for document in kept for text in passages(document, data.sequence_tokens))
    examples = [Example(Question("", passage=Passage(text))) for text in islice(texts, count)]
    shown = partial(track, text=f"finding concepts, {split}", total=len(examples))

    found = cached_subgraphs(
        examples,
        cache_folder("subgraphs"),
        cache_key(examples, graph.hash, data.max_nodes),
        lambda example: retrieve(example.question, graph, linker, max_nodes=data.max_nodes),
        shown,
    )
    rows = [(e, graphs) for e, graphs in zip(examples, found, strict=True) if len(graphs[0].links) > 1]
    if not rows:
        raise InputError(
            f"data.graph={data.graph!r}: no {split} passage mentions its concepts; use another graph"
        )
    part = MixturePart(
        DataSettings(name="text", batch_questions=min(data.batch_rows, len(rows))),
        [example for example, _ in rows],
        [graphs for _, graphs in rows],
    )
    entities = load_entities(data_path(data.entities)) if data.entities else None
    reading = InputConfig(max_tokens=data.sequence_tokens)
    return MixedBatches([part], Collator(tokenizer, reading, entities=entities), seed)


def in_turn(sources: Iterable[Iterator[Document]]) -> Iterator[Document]:
    """Documents of the sources in turn (round robin), until all are exhausted."""
    for documents in zip_longest(*sources):
        yield from (document for document in documents if document is not None)


def passages(document: Document, tokens: int) -> Iterator[str]:
    """Passages of whole sentences that fit a row, estimated by an average token length; longer ones are truncated."""
    room = LETTERS_OF_A_TOKEN * (tokens - 4)
    text = ""
    for sentence in document:
        if text and len(text) + len(sentence) > room:
            yield text
            text = ""
        text = f"{text} {sentence}".strip()[:room]
    if text:
        yield text


_CPU = torch.device("cpu")


class RowBatches(Batches):
    """Packed rows in an order that depends only on seed and step. Rows with padding get a mask.

    All rows are on `device` from the start, so that a step only transfers their indices.
    """

    def __init__(
        self,
        rows: NDArray[np.uint16],
        batch_rows: int,
        seed: int,
        device: torch.device = _CPU,
        joined: NDArray[np.bool_] | None = None,
    ) -> None:
        self.rows, self.batch_rows, self.seed = rows, min(batch_rows, len(rows)), seed
        # torch's 16-bit integers are signed
        self._rows = torch.from_numpy(rows.view(np.int16)).to(device)
        self._joined = None if joined is None else torch.from_numpy(joined).to(device)
        self.steps_per_epoch = len(rows) // self.batch_rows
        self.padded = bool((rows[:, -1] == 0).any())
        self._epoch, self._order = -1, np.empty(0, dtype=np.int64)

    def __getitem__(self, step: int) -> TextBatch:
        """The rows of a step."""
        epoch, turn = divmod(step, self.steps_per_epoch)
        if epoch != self._epoch:
            self._epoch = epoch
            self._order = np.random.default_rng([self.seed, epoch]).permutation(len(self.rows))
        chosen = self._order[turn * self.batch_rows : (turn + 1) * self.batch_rows]
        numbers = torch.from_numpy(chosen).to(self._rows.device)
        input_ids = self._rows[numbers].long() & 0xFFFF
        joined = None if self._joined is None else self._joined[numbers]
        return TextBatch(input_ids, input_ids != 0 if self.padded else None, joined=joined)


class PairBatches(Batches):
    """Sentence pairs for NSP or SOP, sampled anew for each step."""

    def __init__(self, maker: PairMaker, batch_rows: int, seed: int) -> None:
        self.maker, self.batch_rows, self.seed = maker, batch_rows, seed
        self.steps_per_epoch = max(1, len(maker.tokens) // (maker.length * batch_rows))

    def __getitem__(self, step: int) -> TextBatch:
        """The pairs of a step."""
        rows = self.maker.rows(self.batch_rows, self.seed, step)
        return TextBatch(*(torch.from_numpy(part) for part in rows))


def open_batches(recipe: PretrainingRecipe, corpus: Corpus, split: str = "train") -> Batches:
    """The batches for a recipe's objective."""
    data, seed = recipe.data, recipe.trainer.seed if split == "train" else 0
    reads = OBJECTIVES[recipe.objective.name].reads
    if reads == "subgraphs":
        # imported here, since text alone needs no graph

        tokenizer = load_tokenizer(corpus.folder)
        return grounded_batches(data, open_documents(data).values(), tokenizer, split, seed)
    if reads == "pairs":
        task: PairTask = "nsp" if recipe.objective.name == "nsp" else "sop"
        return PairBatches(
            PairMaker(corpus, task, data.sequence_tokens, split, data.pairs), data.batch_rows, seed
        )
    documents = data.packing == "doc_sentences"
    rows = corpus.rows(data.sequence_tokens, split, documents)
    if not len(rows):
        raise InputError(
            f"{corpus.folder}: too little {split} text for rows of {data.sequence_tokens} tokens; "
            "add text or change data.held_out"
        )
    device = torch.device("cuda", torch.cuda.current_device()) if torch.cuda.is_available() else _CPU
    whole = recipe.objective.whole_words and data.facts
    joined = corpus.joined_rows(data.sequence_tokens, split, documents) if whole else None
    return RowBatches(rows, data.batch_rows, seed, device, joined)


def open_documents(data: CorpusSettings) -> dict[str, Iterator[Document]]:
    """The sources of a recipe as streams of documents, thinned to their shares."""
    folder = data_path(data.folder)
    sources = {
        name: thinned(read_documents(find_text(folder, name)), share) for name, share in data.sources.items()
    }
    if data.facts:
        sources["facts"] = thinned(fact_documents(read_facts(data_path(data.facts))), data.facts_share)
    return sources


def prepare_corpus(recipe: PretrainingRecipe, folder: Path) -> tuple[Corpus, Tokenizer]:
    """The recipe's shards and their tokenizer, which are built once and stored together."""
    settings, data = recipe.tokenizer, recipe.data
    target = data_path(data.corpus) if data.corpus else folder / "corpus"
    given = load_tokenizer(data_path(settings.folder)) if settings.folder else None
    if given:
        check_special_tokens(given, data_path(settings.folder or ""))
    made_of = _made_of(data) | ({} if given else flat(settings.model_dump(mode="json"), "tokenizer."))
    if not (target / "manifest.json").exists():
        documents = chain.from_iterable(open_documents(data).values())
        sentences = (sentence.replace(JOINT, " ") for sentence in chain.from_iterable(documents))
        tokenizer = given or train_tokenizer(sentences, **settings.model_dump(exclude={"folder"}))
        write_corpus(open_documents(data), tokenizer, target, held_out=data.held_out, made_of=made_of)
    tokenizer, corpus = load_tokenizer(target), Corpus(target)
    if given and given.get_vocab() != tokenizer.get_vocab():
        raise InputError(f"{target}: was written with another tokenizer; set another folder in data.corpus")
    remedy = "set another folder in data.corpus, or remove this one"
    refuse_other(target, corpus.manifest.get("made_of", {}), made_of, remedy)
    return corpus, tokenizer


def _made_of(data: CorpusSettings) -> dict[str, object]:
    """Inputs of the shards: the share of each source and, if the file still exists, its hash."""
    paths = {name: find_text(data_path(data.folder), name) for name in data.sources}
    if data.facts:
        paths["facts"] = data_path(data.facts)
    found = {f"{name}.hash": fingerprint(path) for name, path in paths.items() if path.is_file()}
    shares = {"sources": data.sources, "facts_share": data.facts_share if data.facts else 0.0}
    return found | flat({**shares, "names": sorted(paths), "held_out": data.held_out})


def word_insides(tokenizer: Tokenizer) -> torch.Tensor:
    """(V,) bool: tokens that continue a word, such as `##ing` of WordPiece, `ing` (not `Ġing`) of byte-level BPE."""
    tokens = [tokenizer.id_to_token(number) or "" for number in range(tokenizer.get_vocab_size())]
    if any(token.startswith("##") for token in tokens):
        return torch.tensor([token.startswith("##") for token in tokens])
    special = set(tokenizer.get_added_tokens_decoder())
    spaces = {"Ġ", "Ċ", "ĉ", ""}  # space, newline and tab in byte-level BPE
    return torch.tensor(
        [t[:1] not in spaces and t[0].isalnum() and n not in special for n, t in enumerate(tokens)]
    )


def run_recipe(recipe: PretrainingRecipe, folder: Path) -> TrainResult:
    """Pretrain an encoder; `folder/export` is a Hugging Face folder, updated at each checkpoint."""
    from accelerate import PartialState

    check_measured(recipe.trainer, ("loss",))
    with PartialState(cpu=not torch.cuda.is_available()).local_main_process_first():
        corpus, tokenizer = prepare_corpus(recipe, folder)
    batches = open_batches(recipe, corpus)
    named = (recipe.start, recipe.objective.teacher, recipe.data.entities)
    weights = weights_of(data_path(name) for name in named if name)
    claim(folder, recipe, corpus=fingerprint(corpus.folder / "manifest.json"), weights=weights)

    def save(target: Path) -> None:
        save_tokenizer(tokenizer, target, recipe.encoder.max_position_embeddings)
        save_recipe(recipe, target / "pretraining.json")
        if recipe.data.entities:
            load_entities(data_path(recipe.data.entities)).save(target / ENTITIES)

    inside = word_insides(tokenizer) if recipe.objective.whole_words else None
    objective = build_objective(recipe, corpus.vocab_size, save, inside)
    evaluate = None
    if recipe.data.held_out:
        held_out = open_batches(recipe, corpus, "held_out")
        evaluate = held_out_loss(held_out, min(16, held_out.steps_per_epoch), recipe.trainer.seed)
    return train(objective, batches, recipe.trainer, folder, evaluate=evaluate)
