"""Every variant at equal tokens, one size, tokenizer, corpus and seed, and what each is worth on a task.

`python training/variants.py [--tokens N] [--tagging N] [--rows NAME ...]`: pretrains each row as
`recipes/pretrain/variant-tiny.toml` says, fine-tunes it on parts of speech (`recipes/task/tagging.toml`) for
`--tagging` tokens, and prints the table. What `--out` holds already is not made again. Needs KGQA_DATA.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

RECIPES = Path(__file__).parent / "recipes"
TEACHER = "objective.teacher={out}/bert-nsp/export"
ROWS: dict[str, tuple[str, tuple[str, ...]]] = {
    "random": ("BERT, random start", ("encoder.variant=bert",)),
    "bert-nsp": (
        "BERT, static masks, NSP",
        ("encoder.variant=bert", "objective.name=nsp", "objective.static_masks=true"),
    ),
    "roberta": ("RoBERTa, dynamic masks", ("encoder.variant=roberta",)),
    "gpt2": ("GPT-2", ("encoder.variant=gpt2", "objective.name=clm")),
    "electra-es": (
        "ELECTRA (shared embeddings)",
        ("encoder.variant=electra", "objective.name=rtd", "objective.sharing=es"),
    ),
    "electra-15": (
        "ELECTRA 15%",
        ("encoder.variant=electra", "objective.name=rtd_15", "objective.sharing=es"),
    ),
    "replace-mlm": ("ELECTRA, Replace MLM", ("encoder.variant=electra", "objective.name=replace_mlm")),
    "all-tokens-mlm": (
        "ELECTRA, All-Tokens MLM",
        ("encoder.variant=electra", "objective.name=all_tokens_mlm"),
    ),
    "roberta-segments": ("RoBERTa, SEGMENT-PAIR+NSP", ("encoder.variant=roberta", "objective.name=nsp")),
    "roberta-sentences": (
        "RoBERTa, SENTENCE-PAIR+NSP",
        ("encoder.variant=roberta", "objective.name=nsp", "data.pairs=sentences"),
    ),
    "xlnet": ("XLNet", ("encoder.variant=xlnet", "objective.name=plm", "objective.mask_share=0.1667")),
    "mpnet": ("MPNet", ("encoder.variant=mpnet", "objective.name=mplm")),
    "distilbert": (
        "DistilBERT, 2 layers, from BERT",
        ("encoder.variant=distilbert", "objective.name=distilbert", TEACHER, "encoder.num_hidden_layers=2"),
    ),
    "tinybert": (
        "TinyBERT, 2 layers x 48, from BERT",
        ("encoder.variant=tinybert", "objective.name=tinybert", TEACHER, "encoder.num_hidden_layers=2",
         "encoder.hidden_size=48", "encoder.intermediate_size=192"),
    ),
    "ib-bert": ("IB-BERT", ("encoder.variant=ib-bert",)),
    "mobilebert": (
        "MobileBERT, from IB-BERT",
        ("encoder.variant=mobilebert", "objective.name=mobilebert", "objective.teacher={out}/ib-bert/export",
         "encoder.intermediate_size=64", "objective.transfer_steps={transfer}"),
    ),
    "modernbert": ("ModernBERT", ()),
    "albert-sop": ("ALBERT, SOP", ("encoder.variant=albert", "objective.name=sop")),
    "deberta-v3-gdes": ("DeBERTaV3 (GDES)", ("encoder.variant=deberta-v3", "objective.name=rtd")),
    "deberta": ("DeBERTa", ("encoder.variant=deberta",)),
    "gpt1": ("GPT-1", ("encoder.variant=gpt1", "objective.name=clm")),
    "modernbert-gdes": ("ModernBERT with GDES", ("objective.name=rtd",)),
    "roberta-static": ("RoBERTa, static masks", ("encoder.variant=roberta", "objective.static_masks=true")),
    "modernbert-words": ("ModernBERT, whole words hidden", ("objective.whole_words=true",)),
    "modernbert-adamw": ("ModernBERT, AdamW", ("trainer.optimizer=adamw",)),
}  # fmt: skip
"""Folder -> heading, and what the recipe says otherwise."""


def pretrain(name: str, tokens: int, out: Path) -> dict[str, Any]:
    """Held-out figures of a variant, and the tokens that a second of processor time reads."""
    from kgqa.trainer.pretraining import PretrainingRecipe, run_recipe
    from kgqa.trainer.recipe import load_recipe

    heard = {"out": out, "transfer": tokens // (3 * 8 * 128)}
    output = [setting.format(**heard) for setting in ROWS[name][1]]
    output += [
        f"name={name}",
        f"data.corpus={out / 'corpus'}",
        f"trainer.max_tokens={1 if name == 'random' else tokens}",
    ]
    if name == "random":
        output += ["trainer.learning_rate=1e-12"]
    begin = time.process_time()
    recipe = load_recipe(RECIPES / "pretrain" / "variant-tiny.toml", output, PretrainingRecipe)
    if run_recipe(recipe, out / name).interrupted:
        raise KeyboardInterrupt  # no figures of half a run
    spent = time.process_time() - begin
    lines = [json.loads(line) for line in (out / name / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    found = {k.removeprefix("held_out_"): v for k, v in lines[-1].items() if k.startswith("held_out_")}
    return {"tokens": lines[-1]["tokens"], "speed": lines[-1]["tokens"] / spent, **found}


def tag(name: str, tokens: int, out: Path) -> float:
    """Share of the words of the development part that get their part of speech after a short fine-tune."""
    from kgqa.trainer.finetuning.classifier import TaskRecipe, train_task
    from kgqa.trainer.recipe import load_recipe

    output = [f"encoder.folder={out / name / 'export'}", f"trainer.max_tokens={tokens}", "trainer.threads=1"]
    recipe = load_recipe(RECIPES / "task" / "tagging.toml", output, TaskRecipe)
    return train_task(recipe, out / name / f"tagging-{tokens}").metrics["accuracy"]


def shown(name: str, found: dict[str, Any]) -> str:
    """A row of the table."""
    seen = {"loss", "tokens", "speed", "tags", "mlm"}
    other = [f"{key} {found[key]:.3g}" for key in sorted(found) if key not in seen and name != "random"]
    masked = f"{found['mlm']:.2f}" if "mlm" in found and name != "random" else ""
    speed = "" if name == "random" else f"{found['speed']:,.0f}"
    return f"| {ROWS[name][0]} | {masked} | {', '.join(other)} | {100 * found['tags']:.1f} | {speed} |"


def main() -> None:
    """Make what is missing and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tokens", type=int, default=1_000_000)
    parser.add_argument("--tagging", type=int, default=100_000)
    parser.add_argument("--rows", nargs="*", default=list(ROWS), choices=list(ROWS), metavar="NAME")
    parser.add_argument("--out", type=Path, default=Path("runs/variants"))
    options = parser.parse_args()
    lines = []
    for name in options.rows:
        figures = options.out / name / "figures.json"
        if not figures.is_file():
            found = pretrain(name, options.tokens, options.out)
            found["tags"] = tag(name, options.tagging, options.out)
            figures.write_text(json.dumps(found) + "\n", encoding="utf-8")
        lines.append(shown(name, json.loads(figures.read_text(encoding="utf-8"))))
        print(lines[-1], flush=True)
    print(
        "\n| variant | masked words | other | parts of speech | tokens a CPU second |\n|---|---|---|---|---|"
    )
    print("\n".join(lines))
    for name in options.rows:
        found = json.loads((options.out / name / "figures.json").read_text(encoding="utf-8"))
        print(json.dumps({"by": ROWS[name][0], **found}))


if __name__ == "__main__":
    main()
