"""`kgqa probe`: thin, so that `--help` stays instant."""

from __future__ import annotations

import json
from pathlib import Path


def probe_encoder(
    folder: str,
    tasks: str,
    limit: int | None,
    tokens: int | None,
    seeds: int,
    pairs: int,
    from_scratch: bool,
    sift: float,
    as_json: bool,
    name: str,
    out: Path,
) -> None:
    """Probe an encoder and print the row, or its figures as JSON for `training/results.py`."""
    from kgqa.assets import data_folder, find_encoder
    from kgqa.evaluation.probing import (
        HEAD,
        PARADIGM_PAIRS,
        RULE,
        check_data,
        choose_tasks,
        figures_of,
        label,
        probe,
        settings_words,
        table_row,
    )

    found, chosen = find_encoder(folder), choose_tasks(tasks)
    data = data_folder()
    check_data(data, chosen)
    kept = pairs if pairs < PARADIGM_PAIRS else None
    figures = probe(
        folder,
        chosen,
        data,
        out,
        limit=limit,
        max_tokens=tokens,
        seeds=seeds,
        pairs=kept,
        from_scratch=from_scratch,
        sift=sift,
    )
    shown = name or label(found, from_scratch)
    if as_json:
        print(json.dumps({"by": shown, "seeds": seeds, **figures_of(figures)}))
    else:
        row = table_row(shown, figures, settings_words(limit, tokens, seeds, kept, sift))
        print(f"{HEAD}\n{RULE}\n{row}")
