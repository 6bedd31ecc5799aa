"""Whether something happened, by implicatives (Karttunen, 1971): who "almost missed" the train did not miss it, who
"forgot to lock" the door did not lock it, and who "managed to open" it opened it."""

from __future__ import annotations

import re
from itertools import islice

from kgqa.language.overlap import content
from kgqa.types import NO, YES, Span

_NEVER = r"almost|nearly|(?:forgot|fail(?:s|ed)?|refuse[sd]?|decline[sd]?|neglect(?:s|ed)?|omit(?:s|ted)?) to"
_ONCE = r"managed to|remembered to"
_IMPLIES = re.compile(rf"(?:\b(?P<no>{_NEVER})|\b(?:{_ONCE})) (?P<verb>[a-z]+)\b", re.IGNORECASE)
_CUT = re.compile(
    r"(?<!\b\w)(?<!\b[MD]r)(?<!\bMrs)[.!?;:][\"'”’)]*(?:\s+|$)|,?\s+(?:but|and|so|when|because|as)\s+|,\s+|$"
)
_PRONOUN = r"(?:i|he|she|it|we|they|you)"
_NOUN = r"(?:the|an?|my|your|his|her|its|our|their)\s+[a-z-]+"
_SUBJECT = re.compile(
    rf"(?:^|[.!?][\"”’)]*\s+)(?P<subject>(?i:{_PRONOUN}|{_NOUN})|[A-Z][\w-]+(?: [A-Z][\w-]+)*)"
    r"(?:\s+(?:has|have|had|very|also|just|even|then))*\s+$"
)
"""A subject that begins a sentence. More before an implicative may undo it: "Perhaps he", "Tom believes he"."""
_ASKED = re.compile(r"(?:did|has|have|had) (?P<clause>[^?,]+?)(?: at all| in the end)?\??", re.IGNORECASE)
_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)
_OBJECT = re.compile(rf"\s*(?:it|him|her|them|{_NOUN})", re.IGNORECASE)
_GOES_ON = re.compile(r"\b(?:it|him|her|them|one|then|next|after\w*)\b", re.IGNORECASE)
_UNSURE = re.compile(
    r"\b(?:not?|never|nobody|none|neither|nor|if|would|could|might|may|or|until|till|only|again|later|finally|eventually"
    r"|said|says|think\w*|thought|all|every\w*|everybody|any\w*|some\w*|few|many|most|half|both|who|which)\b"
    r"|n['’]t\b|[\"“”?]",
    re.IGNORECASE,
)
"""Words of clauses that state no definite fact, or another one: negated, reported, of some time or some of several."""
MOST = 20
"""Maximum number of implicatives of a passage; with more, nothing is implied."""


def implied(question: str, passage: str) -> tuple[str, Span] | None:
    """ "yes" or "no" to a question whether something happened, and the clause that implies it; None if none does.

    >>> implied("Did Eric miss the train?", "Eric almost missed the train.")
    ('no', Span(start=0, end=28))
    >>> implied("Did Eric miss the train?", "Eric almost missed the bus.")
    """
    asked = _ASKED.fullmatch(question.strip())
    if asked is None or _UNSURE.search(asked["clause"]):
        return None
    told = list(islice(_IMPLIES.finditer(passage), MOST + 1))
    found = [each for each in told if _is_asked(asked["clause"], passage, each)] if len(told) <= MOST else []
    if len(found) != 1:
        return None
    (implicative,) = found
    start, end = _clause(passage, implicative)
    others = passage[: implicative.start("verb")] + passage[implicative.end() :]
    if content(implicative["verb"]) & content(others) or _UNSURE.search(passage, start, end):
        return None
    return NO if implicative["no"] else YES, Span(start, end)


def _clause(passage: str, implicative: re.Match[str]) -> tuple[int, int]:
    at = implicative.start()
    starts = [cut.end() for cut in _CUT.finditer(passage, 0, at) if cut.end() < at]
    end = _CUT.search(passage, implicative.end())
    return max(starts, default=0), end.start() if end else len(passage)


def _is_asked(clause: str, passage: str, implicative: re.Match[str]) -> bool:
    """Whether a question's clause has the subject and the verb of an implicative, and no other objects.

    A pronoun may stand for the subject of an only sentence that names nobody else: it has one capital. Who did not win
    a second medal may have won one: a denial must be of no less than is asked, and not be taken up again.
    """
    words = clause.split()
    verbs = [n for n, word in enumerate(words) if n and content(word) & content(implicative["verb"])]
    begins = _SUBJECT.search(passage, 0, implicative.start())
    if len(verbs) != 1 or begins is None:
        return False
    who, what = " ".join(words[: verbs[0]]), " ".join(words[verbs[0] + 1 :])
    subject, end = begins["subject"], _clause(passage, implicative)[1]
    is_only = re.fullmatch(_PRONOUN, who, re.IGNORECASE) and sum(map(str.isupper, passage)) == 1
    is_same = bool(is_only) or _ARTICLE.sub("", who).lower() == _ARTICLE.sub("", subject).lower()
    told = passage[implicative.end() : end]
    if implicative["no"]:
        is_all = content(told) <= content(what) or (_OBJECT.fullmatch(told) and _OBJECT.fullmatch(what))
        is_same = is_same and bool(is_all) and not _GOES_ON.search(passage, end)
    return is_same and content(what) <= content(told)
