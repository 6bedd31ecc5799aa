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
    "gallery_long": {
        "a story": (
            "Mina had saved for the concert since spring. On the evening itself she ironed her blue dress, called a "
            "taxi and set off early. Halfway there it broke down on the bridge. The driver apologised and rang his "
            "brother, who came with a van and drove her the rest of the way. She slipped into her seat just as the "
            "lights went out, and only then noticed that she had left her phone in the taxi.",
            "Who came with a van?",
            "",
        ),
        "a recipe": (
            "Pancakes for four. Sift 200 g of flour into a bowl and make a hollow in the middle. Break three eggs into "
            "it, pour in half a litre of milk and whisk until there are no lumps. Let the batter rest for twenty "
            "minutes. Melt a little butter in a pan and fry each pancake for two minutes a side. Serve with lemon and "
            "sugar.",
            "How long does the batter rest?",
            "",
        ),
        "a dialogue": (
            '"You are late again," said Karin. "The bus did not come," Paul answered. "And the train?" "There was a '
            'tree on the line. In the end I borrowed my neighbour\'s bicycle." Karin laughed. "Then sit down. The soup '
            'is still warm, and Julia has kept you a piece of cake."',
            "Who kept a piece of cake for Paul?",
            "",
        ),
        "a paragraph": (
            "Lighthouses were once kept by hand. Every evening the keeper climbed the stairs, lit the lamp and wound "
            "up the clockwork that turned the lens; every morning he put the lamp out and cleaned the glass. In the "
            "twentieth century electric light and automatic bulb changers replaced him. Today most lighthouses are "
            "watched from an office on land, and the keepers' cottages have become museums or holiday homes.",
            "What have the keepers' cottages become?",
            "",
        ),
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
KOREAN_GALLERY: dict[str, dict[str, Example]] = {
    "gallery_pair": {
        "꽃 심기": ("꽃을 심으려고 땅을 팠다.", "땅을 무엇으로 팠니?", ""),
        "집 짓기": ("집을 지으려고 땅을 팠다.", "땅을 무엇으로 팠니?", ""),
    },
    "gallery_unsaid": {
        "카펫 청소": ("안나는 카펫을 청소하고 싶었다.", "안나는 무엇을 사용했나요?", ""),
        "나사 조이기": ("나사를 조이고 싶다.", "무엇을 사용하나요?", ""),
        "아픈 이": ("이가 몹시 아프다.", "누구에게 가야 하나요?", ""),
        "새는 파이프": ("싱크대 아래의 파이프가 샌다.", "누구를 불러야 하나요?", ""),
        "책 빌리기": ("마리아는 책을 빌리고 싶다.", "마리아는 어디로 가나요?", ""),
    },
    "gallery_long": {
        "이야기": (
            "미나는 공연에 가려고 택시를 탔다. 택시는 다리 위에서 고장 났다. 기사의 동생이 승합차로 "
            "미나를 데려다주었다. 미나는 택시에 전화기를 두고 내렸다.",
            "택시는 어디에서 고장 났나요?",
            "",
        ),
        "요리법": (
            "밀가루에 달걀 세 개와 우유를 넣고 젓는다. 반죽을 20분 동안 둔다. 팬에 버터를 녹이고 반죽을 굽는다.",
            "반죽을 얼마 동안 두나요?",
            "",
        ),
    },
    "gallery_other": {
        "글에 있는 답": (
            "막대가 부러져서 그녀는 나무 숟가락으로 페인트를 저었다.",
            "그녀는 무엇으로 페인트를 저었나요?",
            "",
        ),
        "까닭": ("집을 지으려고 땅을 팠다.", "왜 땅을 팠니?", ""),
        "선택지": ("그녀는 별을 보고 싶어 한다.", "그녀는 무엇을 사용하나요?", "망원경\n삽\n다리미"),
        "어디에도 없음": ("안나가 책을 읽는 동안 고양이는 소파에서 잤다.", "소파는 무슨 색이었나요?", ""),
    },
}
"""The same for those who read Korean."""
EXAMPLES: dict[str, Example] = {name: values for group in GALLERY.values() for name, values in group.items()}
SAMPLES: dict[str, Example] = {
    "beekeeping": ("The beekeeper wanted to calm the bees.", "What did she use?", ""),
}
"""A question for each graph that comes with the app, by its name."""


def gallery_of(language: str) -> dict[str, dict[str, Example]]:
    """The gallery in a language."""
    return KOREAN_GALLERY if language == "ko" else GALLERY
