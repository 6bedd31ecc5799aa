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
    results: Path | None,
    out: Path,
) -> None:
    """Probe an encoder, print the row (or JSON), and put it into a results file if one is named."""
    from kgqa.assets import data_folder, find_encoder
    from kgqa.evaluation.probing import (
        HEAD,
        PARADIGM_PAIRS,
        RULE,
        check_data,
        choose_tasks,
        label,
        probe,
        settings_words,
        table_row,
        write_row,
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
    row = table_row(shown, figures, settings_words(limit, tokens, seeds, kept, sift))
    if results:
        write_row(results, row)
    if as_json:
        made = {"tokens": tokens, "limit": limit, "seeds": seeds, "pairs": pairs, "sift": sift}
        print(json.dumps({"encoder": shown, **made, **figures}))
    else:
        print(f"{HEAD}\n{RULE}\n{row}")
