"""Linking against spaCy's PhraseMatcher and Matcher, same vocabulary, on the CommonsenseQA dev questions.

Run `KGQA_DATA=... python training/bench/linking.py`; spaCy is a peer only, skipped where not installed.
Recall is the share of questions whose gold answer is linked in the text of the gold choice.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence

import numpy as np
from conceptnet import conceptnet, concepts_named, questions, table

from kgqa.graph.linking.linker import Linker
from kgqa.graph.storage.store import GraphStore

MATCHER_TEXTS = 20
MATCHER_PATTERNS = 20_000


def timed(texts: Sequence[str], run: Callable[[str], object]) -> float:
    """Mean microseconds of the processor a text."""
    start = time.process_time()
    for text in texts:
        run(text)
    return (time.process_time() - start) / len(texts) * 1e6


def main() -> None:
    """Print the table."""
    graph = conceptnet()
    examples = questions()
    texts = [example.question.text for example in examples]
    answers = [example.question.choices[example.choice or 0] for example in examples]
    gold = [concepts_named(graph, answer) for answer in answers]
    linker = Linker(graph)
    cold = timed(texts, linker.link)
    warm = timed(texts, linker.link)
    found = [{e for m in mentions for e in m.entities} for mentions in linker.link_many(answers)]
    recall = np.mean([bool(ids & named) for ids, named in zip(found, gold, strict=True)])
    print(json.dumps({"by": "kgqa", "us": round(warm, 1), "recall": round(float(recall), 3)}))
    count = np.mean([len(linker.link(text)) for text in texts])
    rows = [
        ["kgqa, first time", f"{cold:.0f}", f"{recall:.3f}", f"{count:.1f}"],
        ["kgqa, vocabulary seen", f"{warm:.0f}", f"{recall:.3f}", f"{count:.1f}"],
    ]
    try:
        rows += peers(graph, texts, answers, gold)
    except ImportError:
        print("spaCy is not installed: its rows are left out")
    table(
        f"Linking: {len(texts)} questions, {graph.entity_count:,} concepts",
        ["linker", "µs a question", "recall of the gold choice", "mentions a question"],
        rows,
    )


def peers(
    graph: GraphStore, texts: Sequence[str], answers: Sequence[str], gold: Sequence[set[int]]
) -> list[list[str]]:
    """Rows of PhraseMatcher (all labels) and Matcher (a part of them, on a few texts, scaled up)."""
    import spacy
    from spacy.matcher import Matcher, PhraseMatcher

    language = spacy.blank("en")
    ids = np.arange(graph.entity_count, dtype=np.int32)
    labels = graph.labels(ids)
    phrases = PhraseMatcher(language.vocab, attr="LOWER")
    for i, doc in zip(ids.tolist(), language.tokenizer.pipe(labels), strict=True):
        if len(doc):
            phrases.add(str(i), [doc])

    def phrase(text: str) -> set[int]:
        doc = language.make_doc(text)
        return {int(language.vocab.strings[key]) for key, _, _ in phrases(doc)}

    spent = timed(texts, phrase)
    recall = np.mean([bool(phrase(answer) & named) for answer, named in zip(answers, gold, strict=True)])
    info = {"by": "spaCy's PhraseMatcher", "us": round(spent, 1), "recall": round(float(recall), 3)}
    print(json.dumps(info))
    count = np.mean([len(phrase(text)) for text in texts])
    rows = [["spaCy PhraseMatcher", f"{spent:.0f}", f"{recall:.3f}", f"{count:.1f}"]]
    matcher = Matcher(language.vocab)
    for i, label in zip(ids[:MATCHER_PATTERNS].tolist(), labels, strict=False):
        matcher.add(str(i), [[{"LOWER": word.text.lower()} for word in language.make_doc(label)]])
    slow = timed(texts[:MATCHER_TEXTS], lambda text: matcher(language.make_doc(text)))
    scaled = slow * graph.entity_count / MATCHER_PATTERNS
    rows.append(
        [f"spaCy Matcher (from {MATCHER_PATTERNS:,} patterns, scaled)", f"{scaled:.0f}", "as above", ""]
    )
    return rows


if __name__ == "__main__":
    main()
