"""The history of questions, kept in the visitor's browser to survive a reload."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import streamlit as st

SCRIPT = Path(__file__).with_suffix(".js")
_PROBABILITY = re.compile(r"[01](?:\.\d+)?")
MAX_HISTORY = 20
MAX_PASSAGE = 20_000
"""Maximum characters of a passage that is kept in the browser."""
FIELDS = ("passage", "question", "choices", "graph", "answer", "perhaps", "confidence")
ASKED = FIELDS[:4]
"""The fields by which questions are distinguished."""

HistoryEntry = dict[str, str]


def history() -> list[HistoryEntry]:
    """The questions asked so far, newest first: `FIELDS` of each."""
    asked: list[HistoryEntry] = st.session_state.setdefault("history", [])
    return asked


def remember(entry: HistoryEntry) -> None:
    """Put a question at the top of the history."""
    st.session_state["history"] = merged([entry], history())


def merged(*parts: list[HistoryEntry]) -> list[HistoryEntry]:
    """Histories concatenated; of duplicate questions the first is kept."""
    distinct: dict[tuple[str, ...], HistoryEntry] = {}
    for entry in (entry for part in parts for entry in part):
        distinct.setdefault(tuple(entry[name] for name in ASKED), entry)
    return list(distinct.values())[:MAX_HISTORY]


def understood(stored: object) -> list[HistoryEntry]:
    """The history stored in a browser, validated; empty if it is malformed."""
    try:
        rows = json.loads(str(stored))
    except ValueError:
        return []
    if not isinstance(rows, list):
        return []
    found = []
    for row in rows[:MAX_HISTORY]:
        if not isinstance(row, dict) or not all(isinstance(row.get(name), str) for name in FIELDS):
            continue
        if not _PROBABILITY.fullmatch(row["confidence"]):
            continue
        if row["question"].strip() and len(row["passage"]) <= MAX_PASSAGE:
            found.append({name: row[name] for name in FIELDS})
    return found


def component(on_walk: Any, on_went: Any, language: str, graph: str, skip: str) -> None:
    """The component in the browser. `on_walk` is called after an arrow key (`step()` is the direction), `on_went`
    after Back or Forward; `graph` is the token of the visitor's graph, `skip` the text of the link to the question."""
    memory = st.components.v2.component("kgqa_memory", js=SCRIPT.read_text(encoding="utf-8"))
    kept = [entry for entry in history() if len(entry["passage"]) <= MAX_PASSAGE]
    memory(
        key="memory",
        data={
            "restored": st.session_state.get("restored", False),
            "history": json.dumps(kept, ensure_ascii=False),
            "lang": language,
            "kept": graph,
            "skip": skip,
        },
        on_stored_change=_restore,
        on_walk_change=on_walk,
        on_went_change=on_went,
        on_scheme_change=lambda: None,
    )


def step() -> int:
    """Direction of the last arrow key: one question further back (1) or forward (-1)."""
    return 1 if getattr(st.session_state.get("memory"), "walk", 0) == 1 else -1


def _restore() -> None:
    if not st.session_state.get("restored"):
        st.session_state["restored"] = True
        stored = getattr(st.session_state.get("memory"), "stored", "")
        st.session_state["history"] = merged(history(), understood(stored))
