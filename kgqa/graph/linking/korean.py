"""Korean words without their endings: particles (josa) of nouns, and the commonest endings of regular verbs.

"삽으로" is 삽 with a particle, "정원에서는" is 정원 with two, and "팠다" is a past of 파다.
"""

from __future__ import annotations

from functools import lru_cache

_FIRST, _LAST = "가", "힣"
# A syllable block is numbered by its initial, its vowel and one of 28 finals, the first of them none.
_FINALS = 28
_RIEUL = 8
# Which form stands depends on the sound before it: a final consonant, none, or either.
_AFTER_CONSONANT = (
    "은 이 을 과 으로 으로서 으로써 이랑 이나 이라도 이든지 아 이여 이라고 이란 이라는 이며 이다"
)
_AFTER_VOWEL = "는 가 를 와 로 로서 로써 랑 나 라도 든지 야 여 라고 란 라는 며 다"
_AFTER_EITHER = """
의 에 에서 에게 에게서 께 께서 한테 한테서 더러 하고 도 만 부터 까지 보다 처럼 같이 마다 조차 마저 밖에 만큼 대로 뿐 들
이에요 입니다 이었다 였다
"""
_MOST = 3  # 친구들에게는: plural, recipient, topic

# Endings that leave the stem of a regular verb as it is.
_VERB_ENDINGS = "고 는 기 지 게 던 으려고 려고 으면 면 으러 러 으니 니 습니다 는다 다가 거나 자 자마자 도록"
_PAST = 20  # the final ㅆ
_VOWELS = 21
_UNCONTRACTED = {9: 8, 14: 13, 6: 20}  # ㅘ ㅗ, ㅝ ㅜ, ㅕ ㅣ
_HAE, _HA = "해", "하"


@lru_cache(maxsize=50_000)
def stems(word: str) -> tuple[str, ...]:
    """What a Hangul word may be a form of: nouns, the longest first, then verbs; nothing for other words.

    Only the form of a particle that fits the sound before it is taken off, and at most three particles.
    Which of the results is a word at all is for the caller to know.

    >>> stems("삽으로"), stems("정원에서는"), stems("팠다"), stems("trowel")
    (('삽으', '삽'), ('정원에서', '정원', '정원에서다'), ('파다',), ())
    """
    if not is_hangul(word[-1:]):
        return ()
    found: dict[str, None] = {}
    layer = [word]
    for _ in range(_MOST):
        layer = [stem for longer in layer for stem in _less_one(longer)]
        found.update(dict.fromkeys(layer))
    nouns = sorted(found, key=len, reverse=True)
    return tuple(dict.fromkeys([*nouns, *_verbs(word)]))


def is_hangul(letter: str) -> bool:
    """Whether a letter is a Hangul syllable."""
    return _FIRST <= letter <= _LAST


def _less_one(word: str) -> list[str]:
    found = []
    for particles, fits in ((_AFTER_CONSONANT, True), (_AFTER_VOWEL, False), (_AFTER_EITHER, None)):
        for particle in particles.split():
            stem = word.removesuffix(particle)
            if len(stem) == len(word) or not is_hangul(stem[-1:]):
                continue
            final = (ord(stem[-1]) - ord(_FIRST)) % _FINALS
            loose = final == _RIEUL and particle.startswith("로")  # 칼로, 연필로
            if fits is None or fits == bool(final) or loose:
                found.append(stem)
    return found


def _verbs(word: str) -> list[str]:
    found = [
        stem + "다"
        for ending in _VERB_ENDINGS.split()
        if (stem := word.removesuffix(ending)) and stem != word
    ]
    for place, letter in enumerate(word):
        code = ord(letter) - ord(_FIRST) if is_hangul(letter) else 0
        if code % _FINALS != _PAST or letter in "있겠":
            continue
        before = word[:place]
        if letter in "었았였":
            return [*found, before + "다"] if before else found
        vowel = code // _FINALS % _VOWELS
        plain = chr(ord(letter) - _PAST + (_UNCONTRACTED.get(vowel, vowel) - vowel) * _FINALS)
        return [*found, before + (_HA if plain == _HAE else plain) + "다"]
    return found
