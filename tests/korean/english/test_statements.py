from __future__ import annotations

import pytest

from kgqa.korean.english.translation import gloss


@pytest.mark.parametrize(
    ("korean", "english"),
    [
        ("그는 머리에 안전모를 썼습니다.", "He wore a hard hat on a head."),
        ("아이들은 가지 않았다.", "The children did not go."),
        ("고양이는 세탁기 안에서 잤다.", "The cat slept in a washing machine."),
        ("수영할 수 없었다.", "I could not swim."),
        ("책상은 나무로 만들어졌다.", "The desk was made of a tree."),
        ("아빠는 낚시를 하고 나는 모래성을 쌓았다.", "Dad fished and I built a sandcastle."),
        ("사과와 배를 샀다. 배가 비쌌다.", "I bought an apple and a pear. The pear was expensive."),
        ("가방이 마음에 들었다.", "I liked a bag."),
        ("목이 마른 동생이 왔다.", "The thirsty younger brother came."),
        ("마당에 개가 하나도 없었다.", "There was no dog in the yard."),
        ("세 시간이나 기다렸다.", "I waited for three hours."),
        ("어제 비가 왔다.", "It rained yesterday."),
        ("우산을 집에 두고 왔다.", "I left an umbrella in a house."),
        ("공책 세 권과 지우개 하나를 샀다.", "I bought three notebooks and one eraser."),
        ("빵, 주스와 사과를 샀다.", "I bought bread, juice and an apple."),
        ("빵과 주스와 사과를 샀다.", "I bought bread, juice and an apple."),
        ("빵, 주스, 사과를 샀다.", "I bought bread, juice and an apple."),
        ("빵과 주스, 그리고 사과를 샀다.", "I bought bread, juice and an apple."),
        ("빵과 우유, 엄마가 샀다.", "Mom bought bread and milk."),
        ("어제 저녁, 빵, 우유, 물을 샀다.", "I bought bread, milk and water in the evening yesterday."),
        ("민수와 영희, 토요일에 만났다.", "I met Minsu and Yeonghui on Saturday."),
        ("김밥, 과일 그리고 물을 샀다.", "I bought gimbap, fruit and water."),
        ("오늘, 사과와 배를 샀다.", "I bought an apple and a pear today."),
        ("오천 원이 들었다.", "It cost five thousand won."),
        ("사십 분이 걸렸다.", "It took forty minutes."),
    ],
)
def test_who_does_what_and_where(korean, english):
    assert gloss(korean, {"세탁기": "washing machine", "안전모": "hard hat"}.get).text == english
