"""Questions to try, one click each: name, passage, question, choices one a line."""

from __future__ import annotations

DIG = "What did I dig with?"
EXAMPLES: dict[str, tuple[str, str, str]] = {
    "plant flowers": ("I want to plant flowers, so I dug the ground.", DIG, ""),
    "build a house": ("I want to build a house, so I dug the ground.", DIG, ""),
    "clean the carpet": ("Anna wanted to clean the carpet.", "What did she use?", ""),
    "clean her teeth": ("Anna wanted to clean her teeth.", "What did she use?", ""),
    "measure a board": ("He measured the board before sawing it.", "What did he measure it with?", ""),
    "harvest wheat": ("The farmer wants to harvest the wheat field.", "What does the farmer use?", ""),
    "in the passage": (
        "She stirred the paint with a wooden spoon because the stick had snapped.",
        "What did she stir the paint with?",
        "",
    ),
    "with choices": ("It began to rain while Tom walked home.", "What did he open?", "umbrella\noven\nbook"),
}
