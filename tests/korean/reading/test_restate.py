from __future__ import annotations

import pytest

from kgqa.korean.english.nouns import Said
from kgqa.korean.english.translation import gloss


@pytest.mark.parametrize(
    ("korean", "english"),
    [
        ("땅을 뭘로 팠어?", "What did you dig the ground with?"),
        ("무엇을 써서 땅을 팠을까?", "What did you dig the ground with?"),
        ("땅을 파는 데 무엇을 사용했나요?", "What did you dig the ground with?"),
        ("땅을 팔 때 쓴 것은 무엇입니까?", "What did you dig the ground with?"),
        ("땅을 판 이유는 무엇인가?", "Why did you dig the ground?"),
        ("땅을 판 까닭은?", "Why did you dig the ground?"),
        ("무엇을 하려고 땅을 팠지?", "Why did you dig the ground?"),
        ("무엇 때문에 땅을 팠니?", "Why did you dig the ground?"),
        ("무엇을 찾으려고 땅을 팠니?", "What did you dig the ground to look for?"),
        ("빵을 만드는 사람은 누구인가요?", "Who makes bread?"),
        ("낙타가 사는 곳은 어디예요?", "Where does a camel live?"),
        ("민지가 마신 것은 무엇이니?", "What did Minji drink?"),
        ("머리에 쓰는 것은 무엇인가요?", "What do you wear on a head?"),
        ("비누는 무엇을 할 때 쓰나요?", "What do you use soap for?"),
        ("냉장고는 뭐에 쓰는 물건이야?", "What do you use a fridge for?"),
        ("소방관은 무엇을 하는 사람이에요?", "What does a firefighter do?"),
        ("손이 더러우면 어떻게 해야 하나요?", "What do you have to do, if a hand is dirty?"),
        ("책을 빌리려면 어디에 가야 해요?", "Where do you have to go to borrow a book?"),
        ("책을 빌리려면 어디로 가면 되나요?", "Where do you have to go to borrow a book?"),
        ("깨진 접시를 무엇으로 치우면 좋을까?", "What do you have to clean up the broken plate with?"),
        ("커피를 마셔도 돼?", "Can you drink coffee?"),
        ("못을 박을 때 뭐가 필요해?", "What do you need to hammer a nail?"),
        ("결혼식에는 뭘 입고 가야 하지?", "What do you have to wear in a wedding?"),
        ("아이들은 뭐 하고 놀아?", "What do children do?"),
    ],
)
def test_roundabout_questions_are_plain(korean, english):
    assert (
        gloss(korean, {"소방관": "firefighter", "낙타": "camel", "비누": "soap"}.get, Said()).text == english
    )


def test_what_is_said_stays():
    assert gloss("새로 산 우산은 노란색이다.", {}.get).text.startswith("The umbrella that")
