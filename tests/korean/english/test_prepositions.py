from __future__ import annotations

import pytest

from kgqa.korean.english.nouns import preposition
from kgqa.korean.reading.parse import parse


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("삽으로 팠다.", "with"),
        ("유리로 만들었다.", "of"),
        ("학교로 갔다.", "to"),
        ("기차로 갔다.", "by"),
        ("초록색으로 변했다.", "into"),
        ("학교에 갔다.", "to"),
        ("벽에 걸었다.", "on"),
        ("방에서 잤다.", "in"),
        ("친구에게 주었다.", "to"),
        ("친구와 놀았다.", "with"),
        ("시장까지 걸었다.", "to"),
        ("오만 원에 샀다.", "for"),
        ("꽃에 물을 주었다.", ""),
        ("버스에서 내렸다.", "from"),
    ],
)
def test_particles_by_noun_and_verb(text, english):
    clause = parse(text)[0].clauses[0]
    assert preposition(clause.phrases[0], clause.predicate) == english
