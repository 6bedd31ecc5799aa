"""Korean questions made of statements that a passage bears out: a noun of the statement gives way to a question word.

Cloze translation (Lewis et al., 2019, Unsupervised Question Answering by Cloze Translation), with statements in other
words than the passage's, and with the noun's particle kept outside of the answer.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from kgqa.graph.linking.morphology import Morpheme, morphemes
from kgqa.text.datasets.json_lines import spans_of
from kgqa.types import Example

NOUNS = frozenset(("NNG", "NNP", "SN", "SL", "SH", "NR", "XSN", "XPN"))
NUMBERS = frozenset(("SN", "NR"))
TOPICS = ("은", "는")
PARTICLES = (("로", "으로"), ("가", "이"), ("를", "을"), ("와", "과"))
"""Particles behind a vowel, and behind a consonant."""
MOST = 2
"""Questions of one statement."""
_MOST_PLACES = 2
_ENDINGS = {
    "했다": "했는가",
    "었다": "었는가",
    "았다": "았는가",
    "였다": "였는가",
    "이다": "인가",
    "있다": "있는가",
}


def cloze_questions(
    statements: Sequence[Example], seed: int = 0, unanswerable: float = 0.15
) -> Iterator[Example]:
    """Questions whose answers stand in the statements' passages, and a share of them beside another passage.

    Raises:
        InputError: the extra `ko` is not installed.
    """
    draw = random.Random(f"cloze/{seed}")
    borne_out = [example for example in statements if example.verdict]
    for example in borne_out:
        made = list(_made(example))
        for question in draw.sample(made, min(MOST, len(made))):
            other = draw.choice(borne_out).question.passage
            answer = question.question.passage_text[slice(*question.spans[0])]
            if draw.random() < unanswerable and other is not None and answer not in other.text:
                yield replace(question, question=replace(question.question, passage=other), spans=())
            else:
                yield question


def _made(example: Example) -> Iterator[Example]:
    """A question for each noun of a statement that stands in the passage, in few places."""
    question, said = example.question, example.question.text.strip().rstrip(".?")
    found = morphemes(said)
    for begin, end in _runs(found):
        start, stop = found[begin].start, found[end - 1].end
        noun = said[start:stop]
        after = found[end] if end < len(found) else None
        spans = spans_of(question.passage_text, [noun])
        if not spans or len(spans) > _MOST_PLACES or (after and after.form in TOPICS):
            continue
        if len(noun) < 2 or not (after is None or after.tag[0] in "JS" or after.tag == "VCP"):
            continue
        text = said[:start] + _fitting(_question_word(found[begin:end], after), said[stop:])
        yield Example(replace(question, text=_asked(text), id=f"{question.id}-{begin}"), spans=spans)


def _runs(found: Sequence[Morpheme]) -> Iterator[tuple[int, int]]:
    """First and behind the last morpheme of each run of nouns, a number with what it counts."""
    begin = 0
    while begin < len(found):
        end = begin
        while end < len(found) and (
            found[end].tag in NOUNS
            or (found[end].tag == "NNB" and end > begin and found[end - 1].tag in NUMBERS)
        ):
            end += 1
        if end > begin:
            yield begin, end
        begin = max(end, begin + 1)


def _question_word(run: Sequence[Morpheme], after: Morpheme | None) -> str:
    if run[-1].tag == "NNB":
        return f"몇 {run[-1].form}"
    if run[0].tag in NUMBERS:
        return "얼마"
    return "어디" if after and after.form == "에서" else "무엇"


def _fitting(word: str, rest: str) -> str:
    """A word with what follows it, whose particle has the form that goes with the word's last sound."""
    closed = (ord(word[-1]) - ord("가")) % 28 > 0
    for particles in PARTICLES:
        given, wanted = (particles[1 - closed], particles[closed])
        if rest.startswith(given) and not rest.startswith(wanted):
            return word + wanted + rest.removeprefix(given)
    return word + rest


def _asked(text: str) -> str:
    ending = next((end for end in _ENDINGS if text.endswith(end)), "")
    return text.removesuffix(ending) + _ENDINGS.get(ending, "") + "?"
