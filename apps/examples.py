"""Questions to try, one click each: name, passage, question, choices one a line."""

from __future__ import annotations

DIG = "What did I dig with?"
EXAMPLES: dict[str, tuple[str, str, str]] = {
    "plant flowers": ("I want to plant flowers, so I dug the ground.", DIG, ""),
    "build a house": ("I want to build a house, so I dug the ground.", DIG, ""),
    "slice bread": (
        "The soup was ready, so Nadia took the loaf and cut it into slices.",
        "What did she cut it with?",
        "",
    ),
    "cut wrapping paper": (
        "Nadia was wrapping a birthday present, so she cut the paper.",
        "What did she cut it with?",
        "",
    ),
    "in the passage": (
        "She stirred the paint with a wooden spoon because the stick had snapped.",
        "What did she stir the paint with?",
        "",
    ),
    "with choices": (
        "It began to rain while Tom walked home.",
        "What did he open?",
        "umbrella\noven\nbook",
    ),
    "no answer": (
        "The train to Leeds left at nine.",
        "What is the name of the driver's sister?",
        "",
    ),
}
