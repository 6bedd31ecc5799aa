"""Probes of an encoder: the same measurements for any checkpoint, kept, and as a row of a table."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from kgqa.data.corpus.shards import is_document_held_out, read_documents
from kgqa.data.datasets.load import find_data_file
from kgqa.metrics import over_seeds
from kgqa.models.language_model import load_language_model
from kgqa.models.pretrained import checksum
from kgqa.progress import track
from kgqa.settings import find_encoder, write_whole
from kgqa.trainer.finetuning.reader import PretrainedEncoderSettings
from kgqa.types import InputError
from training.experiments.finetune import FINETUNES, finetune
from training.experiments.likelihood import held_out_loss, pair_accuracy, read_blimp

HELD_OUT = ("stories_children", "mixed_masc", "mixed_gum_ewt", "news_gov_blogs", "howto_science_books")
"""Texts of the held-out loss: their documents that no pretraining run reads."""
PARADIGM_PAIRS = 1000
"""Pairs of each of BLiMP's paradigms."""
COLUMNS: dict[str, tuple[str, str, float]] = {
    "heldout": ("held-out loss", "loss", 1.0),
    "blimp": ("BLiMP", "accuracy", 100.0),
    "csqa": ("CommonsenseQA", "accuracy", 100.0),
    "squad1": ("SQuAD 1.1 F1", "f1", 100.0),
    "squad2": ("SQuAD 2.0 F1", "f1", 100.0),
    "cola": ("CoLA r", "matthews", 100.0),
    "sst2": ("SST-2", "accuracy", 100.0),
    "rte": ("RTE", "accuracy", 100.0),
}
"""Task -> (heading, figure shown, factor)."""
HEAD = "| encoder | " + " | ".join(heading for heading, _, _ in COLUMNS.values()) + " | made with |"
RULE = "|---" * (len(COLUMNS) + 2) + "|"


def choose_tasks(text: str) -> list[str]:
    """Task names from a list by comma, in the table's order; `squad` is both of SQuAD's."""
    names = {name.strip() for name in text.split(",") if name.strip()}
    if "squad" in names:
        names = names - {"squad"} | {"squad1", "squad2"}
    for name in sorted(names - set(COLUMNS)):
        raise InputError(f"unknown probe {name!r}; known: {', '.join(COLUMNS)} and squad for both")
    return [name for name in COLUMNS if name in names]


def probe(
    name: str,
    tasks: Sequence[str],
    data: Path,
    out: Path,
    *,
    limit: int | None = None,
    max_tokens: int | None = None,
    seeds: int = 1,
    pairs: int | None = 100,
    from_scratch: bool = False,
    sift: float = 0.0,
) -> dict[str, dict[str, float | None]]:
    """Figures of each task: the mean over seeds, with `<figure>_sd` beside it for fine-tunes.

    What `out` already holds for the same weights, limits and seed is not measured again. A task that the
    checkpoint cannot do (no language-model head) has the figure None.

    Args:
        limit: measure fine-tunes on the first so many development questions.
        max_tokens: end fine-tunes after so many tokens.
        pairs: pairs of each of BLiMP's 67 paradigms; None takes all 1,000.
        sift: weight of virtual adversarial training in the fine-tunes.
    """
    folder = find_encoder(name)
    made_of = checksum(folder / "config.json", *sorted(folder.glob("*.safetensors")), size=4)
    kept = out / f"{label(folder, from_scratch)}-{made_of}".replace(" ", "-")
    kept.mkdir(parents=True, exist_ok=True)
    settings = PretrainedEncoderSettings(folder=str(folder), from_scratch=from_scratch)
    results: dict[str, dict[str, float | None]] = {}
    for task in tasks:
        if task not in FINETUNES:
            stem = f"blimp-{pairs or 'all'}" if task == "blimp" else task
            measure = partial(_likelihood, task, folder, data, pairs, from_scratch)
            results[task] = _once(kept / f"{stem}.json", measure)
            continue
        runs = []
        for seed in range(seeds):
            stem = f"{task}-{limit or 'all'}-{max_tokens or 'full'}-{seed}" + f"-sift{sift:g}" * bool(sift)
            options: dict[str, Any] = {"seed": seed, "limit": limit, "max_tokens": max_tokens, "sift": sift}
            run = partial(finetune, task, settings, data, kept / stem, track, **options)
            runs.append(_once(kept / f"{stem}.json", run))
        spread = over_seeds(runs)
        results[task] = {key: mean for key, (mean, _) in spread.items()}
        results[task] |= {f"{key}_sd": sd for key, (_, sd) in spread.items()} if seeds > 1 else {}
    return results


def label(folder: Path, from_scratch: bool = False) -> str:
    """What the table calls a checkpoint: its folder, for an `export` the run's."""
    name = folder.resolve().name
    if name.startswith("export"):
        name = folder.resolve().parent.name + name.removeprefix("export")
    return f"{name} (random)" if from_scratch else name


def _likelihood(
    task: str, folder: Path, data: Path, pairs: int | None, from_scratch: bool
) -> dict[str, float | None]:
    model = load_language_model(folder, from_scratch)
    if model is None:
        return {COLUMNS[task][1]: None}
    if task == "blimp":
        return dict(pair_accuracy(model, read_blimp(data, pairs), track))
    return dict(held_out_loss(model, held_out_texts(data), track))


def held_out_texts(data: Path) -> list[str]:
    """Documents that no pretraining run reads (with the default share held out)."""
    paths = [data / "text" / f"{name}.txt.zst" for name in HELD_OUT]
    return [
        "\n".join(document)
        for path in paths
        for document in read_documents(path)
        if is_document_held_out(document)
    ]


def _once(path: Path, measure: Callable[[], Any]) -> dict[str, Any]:
    if not path.is_file():
        write_whole(path, json.dumps(measure(), indent=1) + "\n")
    rows: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return rows


def settings_words(
    limit: int | None, max_tokens: int | None, seeds: int, pairs: int | None, sift: float = 0.0
) -> str:
    """The last column: what was left out."""
    words = [f"{seeds} seed" + "s" * (seeds > 1)]
    words += [f"{max_tokens:,} tokens" if max_tokens else "all tokens"]
    words += [f"first {limit} questions"] * bool(limit) + [f"{pairs} pairs a paradigm"] * bool(pairs)
    words += [f"SiFT {sift:g}"] * bool(sift)
    return ", ".join(words)


def table_row(name: str, results: dict[str, dict[str, float | None]], made_with: str) -> str:
    """A row of the table: percent, loss in nats; `-` for what cannot be measured, empty for what was not."""
    cells, figures = [], figures_of(results)
    for task, (_, _, factor) in COLUMNS.items():
        digits = 2 if factor == 1.0 else 1
        shown = [f"{value * factor:.{digits}f}" for value in figures.get(task, ())]
        cells.append(" ± ".join(shown) or "-" * (task in results))
    return "| " + " | ".join([name, *cells, made_with]) + " |"


def figures_of(results: dict[str, dict[str, float | None]]) -> dict[str, list[float]]:
    """The table's figure of each task that was measured, with its deviation over seeds."""
    found = {}
    for task, measured in results.items():
        figure = COLUMNS[task][1]
        values = (measured.get(figure), measured.get(f"{figure}_sd"))
        if values[0] is not None:
            found[task] = [value for value in values if value is not None]
    return found


def check_data(data: Path, tasks: Sequence[str]) -> None:
    """Fail before the first measurement where a data set is missing."""
    files = {"blimp": "blimp/blimp_67x1000.jsonl.tar", "csqa": "csqa/train.jsonl"}
    files |= {"squad1": "squad/dev-v1.1.json", "squad2": "squad/train-v2.0.json"}
    files |= {"cola": "glue/CoLA/in_domain_train.tsv", "sst2": "glue/SST-2/train.tsv"}
    files |= {"rte": "glue/RTE/train.tsv"}
    for task in tasks:
        if task in files:
            find_data_file(data, files[task])
        elif not (data / "text").is_dir():
            raise InputError(f"{data}: no text/ in it; set KGQA_DATA to the folder of the data sets")
