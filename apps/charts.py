"""Vega-Lite charts with a one-sentence description for screen readers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

COLOURS = ("#2e8b68", "#6f8fd6", "#c2603a", "#8a8a8a")
"""Of groups, in their order; each is legible on the light and the dark background."""


class Point(NamedTuple):
    """One data point: its place on both axes, and the group that gives its colour."""

    x: float | str
    y: float
    group: str


def chart(
    points: Sequence[Point], titles: tuple[str, str, str], description: str, shares: bool = False
) -> dict[str, Any]:
    """Lines over a numeric axis, or grouped bars over a nominal one, with one colour per group.

    `titles` name both axes and the colours; with `shares` values from 0 to 1 are shown in per cent.
    Screen readers read the description instead of the picture, since Vega's marks have no text alternative.
    """
    bars = isinstance(points[0].x, str)
    percent = {"format": ".0%"} if shares else {}
    whole = {"scale": {"domain": [0, 1]}} if shares else {}
    x, y, group = (
        {"field": field, "title": title, "type": kind, "sort": None}
        for field, title, kind in zip(
            Point._fields,
            titles,
            ("nominal" if bars else "quantitative", "quantitative", "nominal"),
            strict=True,
        )
    )
    return {
        "description": description,
        "data": {"values": [point._asdict() for point in points]},
        "mark": {"type": "bar", "aria": False}
        if bars
        else {"type": "line", "aria": False, "point": {"aria": False}},
        "encoding": {
            "x": x | {"axis": {"labelAngle": 0}},
            "y": y | whole | {"axis": percent},
            "color": group | {"scale": {"range": COLOURS}, "legend": {"orient": "bottom", "columns": 2}},
            "tooltip": [group, x, y | percent],
        }
        | ({"xOffset": group} if bars else {}),
    }
