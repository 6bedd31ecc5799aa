"""`kgqa train`: from a recipe to a trained reader."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache, partial
from pathlib import Path
from shutil import copyfile
from typing import Any

import torch
from pydantic import Field, model_validator
from tokenizers import Tokenizer
from torch import nn

from kgqa.data.corpus.tokenizer import load_tokenizer
from kgqa.data.synthetic.knowledge_graphs import synthetic_graphs
from kgqa.graph.linking.fuzzy import fuzzy_linker
from kgqa.graph.load import open_graph
from kgqa.graph.retrieval.ablation import ABLATIONS
from kgqa.graph.retrieval.subgraph import Relevance, retrieve_subgraphs
from kgqa.graph.storage.store import GraphStore
from kgqa.models.adapters import READING, READS, adapted, load_adapter, load_merged, save_adapter
from kgqa.models.collation.collate import Collator
from kgqa.models.collation.input_config import InputConfig
from kgqa.models.dense_retrieval import FactEncoder
from kgqa.models.encoders.layerwise import LayerwiseEncoder
from kgqa.models.encoders.variants import use_same_precision
from kgqa.models.entity_vectors import FILE as ENTITIES
from kgqa.models.entity_vectors import load_entities
from kgqa.models.fact_map import MappedEncoder
from kgqa.models.language_model import language_model_fingerprint, open_relevance
from kgqa.models.load import open_reader
from kgqa.models.pretrained import CARD, from_config, load_config, load_pretrained, write_card
from kgqa.models.reader import Reader, load_reader, read_card, save_reader, trained_on
from kgqa.models.reasoners import REASONERS, ReasonerSettings, find_reasoner
from kgqa.objectives.base import Batches, Objective
from kgqa.objectives.distillation import TaughtQA
from kgqa.objectives.finetuning import QA, SiFT
from kgqa.progress import track
from kgqa.qa.retrieve import Retriever
from kgqa.settings import cache_folder, expanded, find_encoder, find_model
from kgqa.trainer.checkpoint import claim, export_best, weights_of
from kgqa.trainer.data.generated import OtherLabels
from kgqa.trainer.data.held_out import READERS, measure, metric_names
from kgqa.trainer.data.mixture import (
    SYNTHETIC_GRAPHS,
    DataSettings,
    MixedBatches,
    MixturePart,
    Subgraphs,
    cache_key,
    cached_subgraphs,
    check_sides,
    check_uses,
    data_hashes,
    first_rows,
    in_order,
    load_examples,
    split_off,
)
from kgqa.trainer.loop import TrainResult, check_measured, train
from kgqa.trainer.recipe import RecipePath, Settings, TrainerSettings
from kgqa.types import Example, InputError, Subgraph


class PretrainedEncoderSettings(Settings):
    """The encoder to start from."""

    folder: RecipePath = "kgqa-mini"
    """Hugging Face folder, shipped name, or folder of a reader to continue from."""
    from_scratch: bool = False
    """Take the architecture only, with random weights (for comparison)."""
    dropout: float | None = Field(None, ge=0, lt=1)
    """Dropout inside the encoder; None keeps its own. 0 is a fifth faster on a CPU."""
    freeze_words: bool = False
    """Freeze the word embeddings."""
    freeze_layers: int = Field(0, ge=0)
    """Freeze the first N layers and the embeddings, for faster steps (Lee et al., 2019)."""
    adapter: int = Field(0, ge=0)
    """Rank of a low-rank adapter (Hu et al., 2022) of a trained reader: it and the heads for spans and answer types are
    trained, and stored beside the weights of that reader, which stay as they are. 0: all weights are trained."""


class ReaderRecipe(Settings):
    """Everything `kgqa train` needs; the resolved recipe is stored in the checkpoint."""

    name: str = "reader"
    encoder: PretrainedEncoderSettings = PretrainedEncoderSettings()
    reasoner: ReasonerSettings = ReasonerSettings()
    data: list[DataSettings] = Field(min_length=1)
    input: InputConfig = InputConfig()
    paraphrase: float = Field(0.5, ge=0, le=1)
    """Probability of paraphrasing a relation in training (graph_data/paraphrases.toml)."""
    graph_dropout: float = Field(0.0, ge=0, le=1)
    """Probability of dropping all facts of a training question's subgraph, so that heads do not rely on them."""
    development: list[DataSettings] = []
    """Data sets for evaluation every `trainer.evaluate_every_steps`. `trainer.patience` (early stopping) and
    the choice of the exported reader go by `trainer.best_metric`: loss, accuracy, or accuracy of one kind
    (accuracy_choice, _passage, _knowledge, _yes_no)."""
    held_out: float = Field(0.0, ge=0, lt=0.5)
    """Share of each data set (the same passages for every seed) held out and used like `development`."""
    evaluate_questions: int | None = Field(None, ge=1)
    """Evaluate on the first N questions held out or for development, of each data set; None: all."""
    teacher: RecipePath = ""
    """Teacher for distillation: folder or shipped name of a trained reader."""
    temperature: float | None = Field(None, gt=0)
    """Temperature of distillation; default 2."""
    soft: float | None = Field(None, ge=0, le=1)
    """Weight of the distillation loss, default 0.5; gold answers have the rest."""
    sift: float = Field(0.0, ge=0)
    """Weight of virtual adversarial training (He et al., 2021, section 4.3); 0 is none."""
    consistency: float = Field(0.0, ge=0)
    """Weight of the R-Drop-like divergence between paraphrases (examples of equal `same`); 0 is none."""
    question_encoder: RecipePath = ""
    """Folder of a multilingual encoder with a fact map (`training/fact_map.py`): in training it retrieves
    facts for questions not in English, as the trained reader's own encoder will; input.multilingual only."""
    store_subgraphs: bool = True
    """Retrieve all subgraphs before training and store them on disk; else on demand."""
    entities: RecipePath = ""
    """Folder of entity vectors (`kgqa graph embed`), for reasoners that use them; stored with the reader."""
    trainer: TrainerSettings = TrainerSettings()

    @model_validator(mode="after")
    def _yes_and_no_are_classified(self) -> ReaderRecipe:
        if self.input.yes_no and not self.reasoner.yes_no:
            raise ValueError("input.yes_no makes yes and no candidates; set reasoner.yes_no = true as well")
        return self

    def located(self) -> ReaderRecipe:
        """The recipe with environment variables in its names expanded; the card keeps them as written."""
        return self.model_copy(
            update={
                "data": [with_expanded_names(settings) for settings in self.data],
                "development": [with_expanded_names(settings) for settings in self.development],
                "entities": expanded(self.entities),
            }
        )


def with_expanded_names(settings: DataSettings) -> DataSettings:
    """A data set's settings with environment variables in its names expanded."""
    texts = tuple(expanded(text) for text in settings.texts)
    named = {"name": expanded(settings.name), "graph": expanded(settings.graph), "texts": texts}
    return settings.model_copy(update=named)


# Initialize a reader from an encoder, or from an earlier reader.


def load_encoder(settings: PretrainedEncoderSettings) -> tuple[nn.Module, Path]:
    """A Hugging Face base model from any folder, and the folder of its tokenizer."""
    from transformers import AutoModel

    folder = find_encoder(settings.folder)
    config = load_config(folder)
    if settings.dropout is not None:
        for name in [n for n in vars(config) if n.endswith(("_dropout", "_dropout_prob"))]:
            setattr(config, name, settings.dropout)
    attention = {} if torch.cuda.is_available() else {"attn_implementation": "eager"}
    if settings.from_scratch:
        return from_config(AutoModel, config, **attention), folder
    encoder = load_pretrained(AutoModel, folder, config=config, dtype=torch.float32, **attention)
    if attention:
        use_same_precision(encoder)
    if settings.freeze_words:
        encoder.get_input_embeddings().requires_grad_(False)
    if settings.freeze_layers:
        for name, parameter in encoder.named_parameters():
            if "embed" in name or "relative_attention_bias" in name:
                parameter.requires_grad_(False)
        layers = LayerwiseEncoder(encoder).layers
        if settings.freeze_layers > len(layers):
            raise InputError(
                f"encoder.freeze_layers: {folder} has {len(layers)} layers; give at most as many"
            )
        for layer in layers[: settings.freeze_layers]:
            layer.requires_grad_(False)
    return encoder, folder


def build(recipe: ReaderRecipe) -> tuple[Reader, Tokenizer, Path]:
    """The initial reader of a recipe: a new one over an encoder, a trained reader to continue from, or one with an
    adapter."""
    torch.manual_seed(recipe.trainer.seed)
    folder = find_encoder(recipe.encoder.folder)
    if recipe.encoder.adapter:
        return with_reading_adapter(recipe, folder), load_tokenizer(folder), folder
    encoder, folder = load_encoder(recipe.encoder)
    reader = Reader(encoder, recipe.reasoner)
    if reader.concept.prior is not None:
        reader.concept.begin_at_prior()
    if (folder / CARD).exists() and not recipe.encoder.from_scratch:
        earlier = load_merged(folder)[0]
        if (folder / READING).exists():
            encoder.load_state_dict(earlier.encoder.state_dict(), strict=False)
        begin_with(reader, earlier)
    return reader, load_tokenizer(folder), folder


def with_reading_adapter(recipe: ReaderRecipe, folder: Path) -> Reader:
    """A trained reader with a new adapter for reading, or with the one that it has."""
    reader = load_reader(folder)[0]
    if recipe.reasoner.name != (own := reader.settings.name):
        raise InputError(f"{folder}: an adapter leaves its reasoner as it is; set reasoner.name = {own!r}")
    rank, layers = recipe.encoder.adapter, slice(recipe.encoder.freeze_layers, None)
    made = load_adapter(reader, folder / READING, READS) or adapted(reader, rank, layers, READS)
    made.answer_type.calibrate()
    return made


def save_with_adapter(reader: Reader, source: Path, folder: Path, card: dict[str, Any]) -> None:
    """Write a reader with its adapter for reading: all files of the reader `source`, and the adapter. What was fitted
    on its weights is kept; `kgqa evaluate --calibrate` fits confidences anew."""
    for path in source.iterdir():
        if path.is_file() and path.name not in (CARD, READING):
            copyfile(path, folder / path.name)
    save_adapter(reader, folder / READING, READS)
    write_card(
        folder, {**card, **read_card(source), "recipe": card["recipe"], "earlier_data": card["earlier_data"]}
    )


def begin_with(reader: Reader, earlier: Reader) -> None:
    """Copy an earlier reader's heads wherever names and shapes match, and its reasoner if it is the same.

    The calibration of the answer-type classifier is not copied, since it does not fit after training.
    """
    heads = ("span.", "choice.", "concept.", "answer_type.")
    parts = (*heads, "reasoner.") if reader.settings.name == earlier.settings.name else heads
    own, found = reader.state_dict(), earlier.state_dict()
    kept = {n: v for n, v in found.items() if n.startswith(parts) and n in own and own[n].shape == v.shape}
    reader.load_state_dict(kept, strict=False)


# Prepare a data set of a recipe, with the subgraphs of its questions.


def prepare(settings: DataSettings, recipe: ReaderRecipe, folder: Path) -> MixturePart:
    """Examples and subgraphs of one data set; subgraphs are cached in `folder`."""
    if settings.name == SYNTHETIC_GRAPHS:
        judge = open_relevance(recipe.input.relevance)
        pairs = list(
            synthetic_graph_questions(settings.limit or 8_000, settings.seed, recipe.input.max_nodes, judge)
        )
        kept = [pair for pair in pairs if pair[0].concepts or not settings.as_one_of]
        return MixturePart(settings, [example for example, _ in kept], [graphs for _, graphs in kept])
    if settings.graph == "none":
        examples = load_examples(settings, None)
        return MixturePart(settings, examples, [[Subgraph()]] * len(examples))
    retriever = _retriever(settings.graph, recipe.input, expanded(recipe.question_encoder))
    graph, encoder = retriever.whole, retriever.encoder
    examples = load_examples(settings, graph)

    def find(example: Example) -> list[Subgraph]:
        return list(retriever.find(example.question))

    change = ABLATIONS[recipe.input.ablation]
    if settings.labels:
        labels, ablate = OtherLabels(graph, settings.labels), change
        examples = [labels.of_example(example) for example in examples]

        def change(subgraph: Subgraph) -> Subgraph:
            return ablate(labels.of_subgraph(subgraph))

    if not recipe.store_subgraphs:  # on demand, and then cached in memory
        found_once = cache(lambda number: [change(graph) for graph in find(examples[number])])
        return MixturePart(settings, examples, Subgraphs(len(examples), found_once))
    judged_by = language_model_fingerprint(recipe.input.relevance) if recipe.input.relevance else ""
    finders = (encoder, retriever.question_encoder)
    found_by = " ".join(finder.fingerprint for finder in finders if finder)
    key = cache_key(examples, graph.hash, recipe.input.max_nodes, judged_by, found_by)
    shown = partial(track, text=f"retrieving {settings.name}", total=len(examples))
    subgraphs = cached_subgraphs(examples, folder, key, find, shown, change)
    return MixturePart(settings, examples, subgraphs)


@lru_cache(maxsize=4)
def _retriever(graph: str, config: InputConfig, question_encoder: str = "") -> Retriever:
    """The retriever of a graph, shared by its data sets, since label index and encoder take hundreds of MB."""
    encoder = FactEncoder.load(config.fact_encoder) if config.fact_encoder else None
    found = Retriever(
        open_graph(graph),
        config,
        open_relevance(config.relevance),
        encoder=encoder,
        question_encoder=MappedEncoder.load_mapped(question_encoder) if question_encoder else None,
    )
    if encoder and not found.dense_search and not found.whole.is_remote:
        raise InputError(
            f"{graph}: no index of its facts; run `kgqa graph index {graph} --encoder {config.fact_encoder}` first"
        )
    return found


QUESTIONS_PER_GRAPH = 20


def synthetic_graph_questions(
    count: int, seed: int, max_nodes: int, relevance: Relevance | None = None
) -> Iterator[tuple[Example, list[Subgraph]]]:
    """About `count` questions over synthetic graphs, each with the subgraph retrieved over its graph's facts."""
    for world in synthetic_graphs(-(-count // QUESTIONS_PER_GRAPH), seed):
        graph = GraphStore.from_triples(world.triples, name="world")
        linker = fuzzy_linker(graph)
        for example in world.examples:
            yield (
                example,
                retrieve_subgraphs(example.question, graph, linker, max_nodes=max_nodes, relevance=relevance),
            )


# `kgqa train`: from a recipe to a trained reader.


def train_reader(recipe: ReaderRecipe, folder: Path | str, collated: Batches | None = None) -> TrainResult:
    """Train a reader by a recipe; checkpoints and the final reader are written to `folder`.

    The reader in `folder/export` loads with `kgqa.load` or `--model`. Batches `collated` elsewhere
    (`training/gpu.py`) are used instead of the recipe's data sets, which need not be there.
    """
    folder = Path(folder)
    if not recipe.teacher and (recipe.temperature is not None or recipe.soft is not None):
        raise InputError("temperature and soft need a teacher; set teacher, or leave them out")
    if recipe.teacher and recipe.consistency:
        raise InputError("teacher and consistency cannot be combined; leave one of them out")
    if recipe.encoder.adapter and recipe.encoder.from_scratch:
        raise InputError("encoder.adapter and encoder.from_scratch cannot be combined; leave one of them out")
    check_measured(recipe.trainer, READERS)
    located, sizes = recipe.located(), dict[str, int]()
    if collated is None:
        check_uses(located.data, located.development)
    entities = load_entities(Path(located.entities)) if recipe.entities else None
    if entities is not None:
        if not find_reasoner(recipe.reasoner.name).reads_entities:
            able = ", ".join(name for name in REASONERS if find_reasoner(name).reads_entities)
            raise InputError(
                f"entities={recipe.entities}: {recipe.reasoner.name} does not use them; use {able}"
            )
        sizes["entity_size"] = entities.size
    recipe = recipe.model_copy(update={"reasoner": recipe.reasoner.model_copy(update=sizes)})
    finders = () if collated else (recipe.input.relevance, recipe.input.fact_encoder)
    asked = (recipe.encoder.folder, *finders)
    weights = [*map(find_encoder, filter(None, asked))]
    weights += [Path(located.entities)] if recipe.entities else []
    if recipe.teacher:
        weights.append(find_model(expanded(recipe.teacher)))
    data = [] if collated else [*located.data, *located.development]
    claim(folder, recipe, weights=weights_of(weights), **(data_hashes(data) if data else {}))
    reader, tokenizer, source = build(recipe)
    mixture = [] if collated else located.data
    parts = [prepare(settings, recipe, cache_folder("subgraphs")) for settings in mixture]
    longest = min(recipe.input.max_tokens, reader.layerwise.max_tokens)
    reading = recipe.input.model_copy(update={"max_tokens": longest})
    collator = Collator(tokenizer, reading, entities=entities)
    card = {"name": recipe.name, "input": reading.model_dump(), "recipe": recipe.model_dump(mode="json")}
    start = find_encoder(recipe.encoder.folder)
    if (start / CARD).is_file() and not recipe.encoder.from_scratch:
        card["earlier_data"] = sorted(trained_on(read_card(start)))

    def save(trained: Reader, target: Path) -> Any:
        target.mkdir(parents=True, exist_ok=True)
        if entities is not None:
            entities.save(target / ENTITIES)
        if recipe.encoder.adapter:
            save_with_adapter(trained, source, target, card)
        else:
            save_reader(trained, source, target, card)

    objective: Objective = QA(reader, save, consistency=recipe.consistency)
    its_collator = None
    if recipe.teacher:
        teacher, its_collator = load_teacher(recipe.teacher, reading)
        soft = 0.5 if recipe.soft is None else recipe.soft
        objective = TaughtQA(reader, teacher, save, temperature=recipe.temperature or 2.0, soft=soft)
    if recipe.sift:
        objective = SiFT(objective, recipe.sift)
    measured = [prepare(data, recipe, cache_folder("subgraphs")) for data in located.development]
    if recipe.held_out:
        parts, held = split_off(parts, recipe.held_out)
        measured += held
        check_sides(parts, measured, recipe.held_out)
    measured = [first_rows(part, recipe.evaluate_questions) for part in measured]
    seed, shares = recipe.trainer.seed, (recipe.paraphrase, recipe.graph_dropout)
    batches = collated or MixedBatches(parts, collator, seed, *shares, teacher=its_collator)

    def evaluate(_objective: Any) -> dict[str, float]:
        return measure(reader, in_order(measured, collator))

    given = evaluate if measured else None
    if measured:
        check_measured(recipe.trainer, metric_names(e for part in measured for e in part.examples))
    result = train(objective, batches, recipe.trainer, folder, evaluate=given)
    if measured:
        export_best(folder, objective)
    return result


def load_teacher(name: str, student: InputConfig) -> tuple[Reader, Collator]:
    """The teacher (folder or shipped name), with a collator for its own tokenizer and settings."""
    teacher = open_reader(expanded(name), device=None)
    ablation = teacher.settings.ablation
    if ablation != student.ablation:
        raise InputError(f"teacher={name}: has ablation={ablation!r}, not {student.ablation!r}")
    return teacher.network, teacher.collator
