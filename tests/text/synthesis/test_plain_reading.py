from kgqa.text.synthesis.plain_reading import plain_reading
from kgqa.types import Source

EXAMPLES = list(plain_reading(count=600, seed=5))


def test_the_same_for_the_same_seed() -> None:
    assert list(plain_reading(count=50, seed=5)) == EXAMPLES[:50] != list(plain_reading(count=50, seed=6))


def test_the_answer_stands_there_once() -> None:
    for example in EXAMPLES:
        passage = example.question.passage_text
        for span in example.spans:
            assert passage.lower().count(passage[span.start : span.end].lower()) >= 1
        if example.spans:
            longest = example.spans[0]
            assert passage.lower().count(passage[longest.start : longest.end].lower()) == 1
        assert "{" not in passage + example.question.text and passage[0].isupper()


def test_some_cannot_be_answered() -> None:
    share = sum(example.source is Source.NONE for example in EXAMPLES) / len(EXAMPLES)
    assert 0.1 < share < 0.3
