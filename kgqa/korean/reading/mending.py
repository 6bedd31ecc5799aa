"""Morphemes less what an analyser takes for something else."""

from __future__ import annotations

from collections.abc import Sequence

from kgqa.graph.linking.morphology import Morpheme
from kgqa.korean.words.lexicon import group

NOUNS = frozenset(["NNG", "NNP", "NNB", "NP", "NR", "SN", "SL", "SH", "XR"])
BEGINS = NOUNS | {"MM", "XPN"}
"""Tags of what a noun phrase begins with."""
LONE = group("lone")
"""Nouns of time and manner that stand alone, without a particle."""
_NAMED_TIMES = group("named_times")
_LIVED_IN = group("lived_in")


def mended(found: Sequence[Morpheme]) -> list[Morpheme]:
    """Morphemes with what an analyser takes for a verb: 나는 at a beginning (I), 지난 before a time (last)."""
    mended: list[Morpheme] = []
    at = 0
    while at < len(found):
        m, after = found[at], found[at + 1] if at + 1 < len(found) else None
        begins = not mended or mended[-1].tag in ("EC", "SF", "SP", "MAJ")
        noun_follows = at + 2 < len(found) and found[at + 2].tag in BEGINS | {"MAG"}
        if after is not None and m.tag == "VV" and after.tag == "ETM" and noun_follows:
            if m.form == "나" and after.form == "는" and begins:
                mended += [m._replace(tag="NP"), after._replace(tag="JX")]
                at += 2
                continue
            bought = bool(mended) and mended[-1].tag == "JKO"
            if m.form == "사" and after.form == "는" and found[at + 2].form in _LIVED_IN and not bought:
                m = m._replace(form="살")
            lone = not mended or not mended[-1].tag.startswith("J") or mended[-1].tag == "JX"
            noun = found[at + 2].form
            is_time = noun.endswith("요일") or noun in _NAMED_TIMES
            if m.form == "지나" and after.form == "ᆫ" and lone and is_time:
                mended.append(Morpheme("지난", "NNG", m.start, after.end))
                at += 2
                continue
        if mended and (name := _called(mended[-1], m, after)):
            mended[-1] = name
            at += 1
            if after is not None and after.tag == "ETM":
                mended.append(after._replace(tag="JX"))
                at += 1
            continue
        if mended and mended[-1].end == m.start and mended[-1].form + m.form in LONE:  # 밤사이
            mended[-1] = mended[-1]._replace(form=mended[-1].form + m.form, end=m.end)
            at += 1
            continue
        if m.tag == "JKB" and m.form == "ᆯ로":  # 뭘로
            m = m._replace(form="으로")
        mended.append(m)
        at += 1
    return mended


def _called(noun: Morpheme, m: Morpheme, after: Morpheme | None) -> Morpheme | None:
    """A noun that is somebody's name, by the 이 between it and a particle: 하늘이는, 콩이를."""
    if noun.tag not in ("NNG", "NNP") or m.form != "이" or m.start != noun.end or after is None:
        return None
    particle = m.tag == "JKS" and after.tag[0] == "J" and after.start == m.end
    if particle or (m.tag == "VCP" and after.tag == "ETM" and after.form == "는"):
        return Morpheme(noun.form + "이", "NNP", noun.start, m.end)
    return None
