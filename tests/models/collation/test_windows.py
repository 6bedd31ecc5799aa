import itertools

from kgqa.models.collation.collate import Collator
from kgqa.models.collation.input_config import InputConfig
from kgqa.models.collation.rows import Pieces, nearest
from kgqa.types import Example, Passage, Question, Span

FILLER = "the house was red and it was blue . " * 12
TEXT = FILLER + "bees want honey . " + FILLER
ASKED = Question("where is honey", passage=Passage(TEXT))
READING = InputConfig(max_tokens=48, stride=8, windows=2)


def pieces(tokenizer, text: str) -> tuple[str, Pieces]:  # type: ignore[no-untyped-def]
    found = tokenizer.encode(text, add_special_tokens=False)
    return text, Pieces(found.ids, found.offsets)


def test_windows_with_rare_words_of_the_question_are_read(tokenizer, digging) -> None:  # type: ignore[no-untyped-def]
    collated = Collator(tokenizer, READING)([Example(ASKED)], [[digging]])
    every = Collator(tokenizer, READING.model_copy(update={"windows": 0}))([Example(ASKED)], [[digging]])
    assert len(collated.rows) == 2 < len(every.rows)
    at = TEXT.index("honey")
    assert any(row.offsets.count((at, at + 5)) for row in collated.rows)
    kept = [row.offsets for row in collated.rows]
    assert kept == [row.offsets for row in every.rows if row.offsets in kept]  # in their order


def test_what_is_near_in_meaning_alone_is_read(tokenizer) -> None:  # type: ignore[no-untyped-def]
    text = pieces(tokenizer, TEXT)
    windows = [(start, start + 20) for start in range(0, len(text[1][0]) - 19, 10)]
    asked = pieces(tokenizer, "who needs flowers")

    def similarity(_question: str, others: list[str]) -> list[float]:
        return [float("honey" in other) for other in others]

    place = next(n for n, (_, end) in enumerate(text[1][1]) if end > TEXT.index("honey"))
    near = nearest(windows, 3, asked, text, similarity)
    assert near == sorted(near) and any(left - 48 <= place < right + 48 for left, right in near)
    assert all(end <= left for (_, end), (left, _) in itertools.pairwise(near))  # no two tell the same
    assert nearest(windows[:3], 3, asked, text, similarity) == windows[:3]


def test_to_learn_from_a_passage_all_of_it_is_read(tokenizer, digging) -> None:  # type: ignore[no-untyped-def]
    example = Example(ASKED, spans=(Span(0, 9),))
    assert Collator(tokenizer, READING)([example], [[digging]], with_gold=True).batch.num_rows > 2
