"""Answer questions on a Ray cluster: actors that each load a reader once."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import torch

from kgqa.settings import setting
from kgqa.types import InputError, Question, first_line

MAX_BLOCKS = 10_000
"""Maximum number of blocks of questions; each takes some of Ray's memory."""


class _Reads:
    """An actor that answers blocks of questions."""

    def __init__(self, model: str, graph: str, options: dict[str, Any]) -> None:
        from kgqa.qa.answerer import Answerer

        torch.set_num_threads(1)  # each actor has requested one core
        self.answerer = Answerer.load(model, graph, **options)

    def __call__(self, rows: dict[str, Any]) -> dict[str, Any]:
        from kgqa.qa.render import json_lines

        columns = (rows[name].tolist() for name in ("text", "choices", "passage", "id"))
        questions = [Question(*row) for row in zip(*columns, strict=True)]
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
    """Answers as lines of JSON in the order of the questions, batch by batch; `options` are those of `Answerer.load`.

    It runs on the cluster at RAY_ADDRESS, else on this machine; reader and graph must have the same names on every
    machine. Ray reassigns the blocks of a machine that fails.
    """
    try:
        import ray
        import ray.data
    except ImportError:
        raise InputError("ray is not installed; install the extra: pip install 'kgqa[cluster]'") from None
    began = not ray.is_initialized()
    if began:
        named = setting("RAY_ADDRESS")
        here: dict[str, Any] = {} if named else {"num_cpus": workers + 1, "include_dashboard": False}
        try:
            ray.init(log_to_driver=False, logging_level=logging.ERROR, **here)
        except Exception as error:  # Ray documents no exception types here
            raise InputError(
                f"{named or 'ray'}: cannot connect to a cluster ({first_line(error)}); use --engine local"
            ) from None
    try:
        if ray.cluster_resources().get("CPU", 0) < workers:
            raise InputError(
                f"{workers} workers need a core each, and the cluster has fewer; reduce --workers"
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
