"""Tokens per second of `kgqa pretrain` beside the plain Hugging Face Trainer: same model, rows and steps.

    python training/bench/pretraining.py [--steps 20] [--layers 4] [--hidden 256] [--rows 24] [--compile]

The two take turns, so that other load on the machine meets both; the last quarter of the steps is timed.
Prints one JSON line for each turn and, last, the ratio of the medians and the share of the measured
matrix-product rate (utilisation).
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from kgqa.models.encoders.variants import build_language_model
from kgqa.trainer.loop import flops_of_token, matrix_rate, train
from kgqa.trainer.pretraining import PretrainingRecipe, RowBatches, build_objective

VOCAB = 8192


def quarter(options: argparse.Namespace) -> int:
    """Steps that are timed: the last quarter, when compiling and warming up are over."""
    return max(1, options.steps // 4)


def recipe_of(options: argparse.Namespace) -> PretrainingRecipe:
    """The recipe that both sides train by."""
    return PretrainingRecipe.model_validate(
        {
            "encoder": {
                "variant": options.variant,
                "hidden_size": options.hidden,
                "num_hidden_layers": options.layers,
                "num_attention_heads": max(1, options.hidden // 64),
                "intermediate_size": 2 * options.hidden,
            },
            "data": {"sources": {"none": 1.0}, "batch_rows": options.rows, "sequence_tokens": options.length},
            "objective": {"name": options.objective, "mask_share": 0.15},
            "trainer": {
                "max_steps": options.steps,
                "log_every_steps": quarter(options),
                "save_every_minutes": 1e6,
                "compile": options.compile,
            },
        }
    )


def ours(options: argparse.Namespace, rows: np.ndarray, folder: Path) -> float:
    """Tokens per second of our loop in its last quarter."""
    recipe = recipe_of(options)
    objective = build_objective(recipe, VOCAB, lambda _: None)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train(objective, RowBatches(rows, options.rows, 0, device), recipe.trainer, folder)
    lines = (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()
    return float(json.loads(lines[-1])["tokens_per_s"])


def theirs(options: argparse.Namespace, rows: np.ndarray, folder: Path) -> float:
    """Tokens per second of Hugging Face's Trainer on the same masked language model, in its last quarter."""
    from transformers import Trainer, TrainerCallback, TrainingArguments

    model = build_language_model(recipe_of(options).encoder, VOCAB)
    times: dict[int, float] = {}

    class Clock(TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            if state.global_step in (options.steps - quarter(options), options.steps):
                if torch.cuda.is_available():
                    torch.cuda.synchronize()
                times[state.global_step] = time.monotonic()

    def collate(batch: list[np.ndarray]) -> dict[str, torch.Tensor]:
        ids = torch.from_numpy(np.stack(batch).astype(np.int64))
        hidden = torch.rand(ids.shape) < 0.15
        labels = ids.masked_fill(~hidden, -100)
        return {"input_ids": ids.masked_fill(hidden, 4), "labels": labels}

    arguments = TrainingArguments(
        output_dir=str(folder),
        max_steps=options.steps,
        per_device_train_batch_size=options.rows,
        bf16=True,
        use_cpu=not torch.cuda.is_available(),
        report_to=[],
        save_strategy="no",
        logging_strategy="no",
        remove_unused_columns=False,
        disable_tqdm=True,
    )
    data: Any = list(rows)
    Trainer(model, arguments, train_dataset=data, data_collator=collate, callbacks=[Clock()]).train()
    first, last = (times[step] for step in sorted(times))
    return quarter(options) * options.rows * options.length / (last - first)


def main() -> None:
    """Take turns, print, compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in (
        ("steps", 20),
        ("layers", 4),
        ("hidden", 256),
        ("rows", 24),
        ("length", 128),
        ("turns", 3),
    ):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--variant", default="bert")
    parser.add_argument("--objective", default="mlm")
    parser.add_argument("--compile", action="store_true")
    options = parser.parse_args()
    rows = np.random.default_rng(0).integers(5, VOCAB, (options.rows * options.steps, options.length))
    speeds: dict[str, list[float]] = {"kgqa": [], "trainer": []}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(options.turns):
            for name, run in (("kgqa", ours), ("trainer", theirs)):
                speed = run(options, rows.astype(np.uint16), Path(folder) / f"{name}-{turn}")
                speeds[name].append(speed)
                print(json.dumps({"turn": turn, "side": name, "tokens_per_s": round(speed)}), flush=True)
    medians = {name: statistics.median(values) for name, values in speeds.items()}
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    objective = build_objective(recipe_of(options), VOCAB, lambda _: None).to(device)
    batch = RowBatches(rows.astype(np.uint16), options.rows, 0)[0].to(device)
    with torch.autocast(device.type, torch.bfloat16):
        flops = flops_of_token(objective, batch) or 0.0
    share = medians["kgqa"] * flops / matrix_rate(device, seconds=1.0)
    print(json.dumps({**medians, "ratio": medians["kgqa"] / medians["trainer"], "utilisation": share}))


if __name__ == "__main__":
    main()
