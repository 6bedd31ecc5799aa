"""Many questions on many machines: actors of a Ray cluster, each with a reader that it loads once."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import torch

from kgqa.types import InputError, Passage, Question, first_line

MAX_BLOCKS = 10_000
"""Parts that the questions are dealt out in; each is some bytes of Ray's own memory."""


class _Reads:
    """An actor."""

    def __init__(self, model: str, graph: str, options: dict[str, Any]) -> None:
        from kgqa.qa.answerer import Answerer

        torch.set_num_threads(1)  # a core each, as it was asked for
        self.answerer = Answerer.load(model, graph, **options)

    def __call__(self, rows: dict[str, Any]) -> dict[str, Any]:
        from kgqa.qa.render import json_lines

        columns = (rows[name].tolist() for name in ("text", "choices", "passage", "id"))
        questions = [
            Question(text, tuple(choices), Passage(passage) if passage else None, id=id_)
            for text, choices, passage, id_ in zip(*columns, strict=True)
        ]
        answers = map(self.answerer.shown, self.answerer.answer_many(questions))
        return {"block": rows["block"], "line": json_lines(answers)}


def answered(
    questions: Sequence[Question],
    model: str,
    graph: str,
    batch: int,
    options: dict[str, Any],
    *,
    workers: int,
) -> Iterator[list[str]]:
    """The answers as lines of JSON in the order of the questions, a batch at a time; `options` are `Answerer.load`'s.

    It runs on the cluster that RAY_ADDRESS names, else on this machine; reader and graph must be found under the
    same names on every machine. Ray deals out again what a machine that fails has left.
    """
    try:
        import ray
        import ray.data
    except ImportError:
        raise InputError("ray is not installed; install the extra: pip install 'kgqa[cluster]'") from None
    began = not ray.is_initialized()
    if began:
        named = os.environ.get("RAY_ADDRESS")
        here: dict[str, Any] = {} if named else {"num_cpus": workers + 1, "include_dashboard": False}
        try:
            ray.init(log_to_driver=False, logging_level=logging.ERROR, **here)
        except Exception as error:  # of many kinds, none of them promised
            raise InputError(
                f"{named or 'ray'}: no cluster to be had ({first_line(error)}); use --engine local"
            ) from None
    try:
        if ray.cluster_resources().get("CPU", 0) < workers:
            raise InputError(
                f"{workers} workers want a core each, the cluster has fewer; name fewer --workers"
            )
        context = ray.data.DataContext.get_current()
        context.execution_options.preserve_order = True
        context.enable_progress_bars = False
        on_gpu = options["device"] != "cpu" and ray.cluster_resources().get("GPU", 0) >= workers
        at_once = max(batch, -(-len(questions) // MAX_BLOCKS))
        rows = [
            {
                "block": number // at_once,
                "id": question.id,
                "text": question.text,
                "passage": question.passage_text,
                "choices": list(question.choices),
            }
            for number, question in enumerate(questions)
        ]
        answers = ray.data.from_items(rows, override_num_blocks=-(-len(rows) // at_once)).map_batches(
            _Reads,
            fn_constructor_args=(model, graph, options),
            batch_size=batch,
            concurrency=workers,
            num_cpus=1,
            num_gpus=1 if on_gpu else None,
        )
        for _, block in groupby(answers.iter_rows(), key=lambda row: row["block"]):
            yield [row["line"] for row in block]
    finally:
        if began:
            ray.shutdown()
