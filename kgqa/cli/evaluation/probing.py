"""`kgqa probe`: an encoder measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from kgqa.assets import data_folder, find_encoder
from kgqa.cli.options import AsJson


def probe_encoder(
    folder: Annotated[str, typer.Argument(help="Hugging Face folder, ours or anyone's, or a shipped name.")],
    tasks: Annotated[str, typer.Option(help="By comma; squad2 and squad (both) are known too.")] = (
        "heldout,blimp,csqa,squad1,cola,sst2,rte"
    ),
    tokens: Annotated[int | None, typer.Option(min=1, help="End fine-tunes after so many tokens.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Ask fine-tunes the first so many development questions.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Fine-tunes of each task.")] = 1,
    pairs: Annotated[int, typer.Option(min=1, help="Pairs of each of BLiMP's paradigms (1,000: all).")] = 100,
    from_scratch: Annotated[
        bool, typer.Option("--from-scratch", help="Take the architecture only, with random weights.")
    ] = False,
    sift: Annotated[float, typer.Option(min=0.0, help="Weight of virtual adversarial training.")] = 0.0,
    as_json: AsJson = False,
    name: Annotated[str, typer.Option(help="What the table calls it; default the folder's name.")] = "",
    out: Annotated[Path, typer.Option(help="Folder of the figures; resumable.")] = Path("runs/probes"),
) -> None:
    """Measure an encoder: held-out loss, BLiMP, and small fine-tunes."""
    from kgqa.evaluation import probing

    found, chosen = find_encoder(folder), probing.choose_tasks(tasks)
    data = data_folder()
    probing.check_data(data, chosen)
    kept = pairs if pairs < probing.PARADIGM_PAIRS else None
    figures = probing.probe(
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
    shown = name or probing.label(found, from_scratch)
    if as_json:
        print(json.dumps({"by": shown, "seeds": seeds, **probing.figures_of(figures)}))
    else:
        made_with = probing.settings_words(limit, tokens, seeds, kept, sift)
        print("\n".join([probing.HEAD, probing.RULE, probing.table_row(shown, figures, made_with)]))
