"""Tokens a CPU second in the reading stage: an encoder as the libraries set it up, and as the recipes train it.

    python training/bench/reading_speed.py [--encoder FOLDER] [--steps 5]

The same rows of real lengths (24 to 320 tokens) are trained on by one thread in bf16, turn by turn: as it comes (fused
attention kernel, dropout, every weight trained, rows as they fall), and with dropout off, attention written out, frozen
words, and rows of like length together. Padding does not count as tokens. The best of the turns is printed.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch
from torch import Tensor, nn

from kgqa.models.pretrained import load_pretrained
from kgqa.trainer.finetuning.reader import PretrainedEncoderSettings, load_encoder

ROWS = 32


def batches(draw: np.random.Generator, count: int, sorted_by_length: bool) -> list[tuple[Tensor, Tensor]]:
    """Rows of token ids (B, T) with their masks; lengths are spread as those of SQuAD's questions are."""
    lengths = np.clip(draw.lognormal(5.0, 0.35, size=count * ROWS), 24, 320).astype(int)
    if sorted_by_length:
        lengths = np.sort(lengths)
    made = []
    for chunk in lengths.reshape(count, ROWS):
        mask = torch.arange(int(chunk.max())).unsqueeze(0) < torch.tensor(chunk).unsqueeze(1)
        made.append((torch.randint(1000, 20_000, mask.shape), mask))
    return made


def rate(encoder: nn.Module, rows: list[tuple[Tensor, Tensor]]) -> float:
    """Tokens that count, a CPU second, forward, backward and AdamW together."""
    trained = [p for p in encoder.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-5)
    begin, tokens = time.process_time(), 0
    for ids, mask in rows:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = (
                encoder(input_ids=ids, attention_mask=mask.long()).last_hidden_state.float().square().mean()
            )
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        tokens += int(mask.sum())
    return tokens / (time.process_time() - begin)


def main() -> None:
    """Print both rates and their ratio."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--encoder", default="kgqa-base")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--turns", type=int, default=3)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    from transformers import AutoModel

    ours, folder = load_encoder(
        PretrainedEncoderSettings(folder=asked.encoder, dropout=0.0, freeze_words=True)
    )
    plain = load_pretrained(AutoModel, folder, dtype=torch.float32, attn_implementation="sdpa")
    plain.config.hidden_dropout_prob = 0.1
    for module in plain.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.1
    best = {"as the libraries come": 0.0, "as the recipes train it": 0.0}
    for turn in range(asked.turns):
        for name, encoder, by_length in zip(best, (plain, ours), (False, True), strict=True):
            rows = batches(np.random.default_rng(turn), asked.steps, by_length)
            best[name] = max(best[name], rate(encoder.train(), rows))
    first, second = best.values()
    for name, value in best.items():
        print(f"{name}: {value:,.0f} tokens a CPU second")
    print(f"ratio: {second / first:.2f}")


if __name__ == "__main__":
    main()
