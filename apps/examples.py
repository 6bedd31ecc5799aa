"""Questions to try, one click each: name, passage, question, choices one a line."""

from __future__ import annotations

Example = tuple[str, str, str]

DIG = "What did I dig with?"
GALLERY: dict[str, dict[str, Example]] = {
    "gallery_pair": {
        "plant flowers": ("I want to plant flowers, so I dug the ground.", DIG, ""),
        "build a house": ("I want to build a house, so I dug the ground.", DIG, ""),
    },
    "gallery_unsaid": {
        "clean the carpet": ("Anna wanted to clean the carpet.", "What did she use?", ""),
        "hang a picture": (
            "Dad hung the picture, so he drove a nail into the wall.",
            "What did he use?",
            "",
        ),
        "tighten a screw": (
            "The hinge was loose, so he tightened the screw.",
            "What did he tighten it with?",
            "",
        ),
        "a sore tooth": ("My tooth hurts badly.", "Who should I see?", ""),
        "a leaking pipe": ("The pipe under the sink is leaking.", "Who should we call?", ""),
        "borrow a book": ("Maria wants to borrow a book.", "Where does she go?", ""),
    },
    "gallery_other": {
        "in the passage": (
            "She stirred the paint with a wooden spoon because the stick had snapped.",
            "What did she stir the paint with?",
            "",
        ),
        "among choices": (
            "She wants to look at the stars.",
            "What does she use?",
            "telescope\nshovel\niron",
        ),
        "said nowhere": (
            "The cat slept on the sofa while Anna read.",
            "What colour was the sofa?",
            "",
        ),
    },
}
"""By what they show (key of a text): the same question twice, what is left unsaid, the other kinds of answer."""
EXAMPLES: dict[str, Example] = {name: values for group in GALLERY.values() for name, values in group.items()}
SAMPLES: dict[str, Example] = {
    "beekeeping": ("The beekeeper wanted to calm the bees.", "What did she use?", ""),
}
"""A question for each graph that comes with the app, by its name."""
