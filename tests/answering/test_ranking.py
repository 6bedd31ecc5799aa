from kgqa.answering.ranking import merged, with_verdicts
from kgqa.types import Candidate, Source, Span


def known(name: str, score: float) -> Candidate:
    return Candidate(name, Source.KNOWLEDGE, score, concept=name)


def names(candidates: list[Candidate]) -> list[str]:
    return [candidate.text for candidate in candidates]


def test_the_gate_chooses_the_source_and_the_heads_order_within_it() -> None:
    spans = [Candidate("here", Source.PASSAGE, 0.9), Candidate("there", Source.PASSAGE, 0.1)]
    concepts = [known("trowel", 0.6), known("spade", 0.4)]
    gate = {Source.PASSAGE: 0.3, Source.KNOWLEDGE: 0.5, Source.NONE: 0.2}
    assert names(merged(gate, spans, concepts))[:3] == ["trowel", "spade", "here"]
    silent = {Source.PASSAGE: 0.3, Source.KNOWLEDGE: 0.1, Source.NONE: 0.6}
    assert merged(silent, spans, concepts)[0].source is Source.NONE


def test_yes_and_no_come_first_where_their_mean_is_likelier_than_every_source() -> None:
    ranked, sentence = [known("trowel", 0.5)], Span(0, 4)
    gate = {Source.KNOWLEDGE: 0.4}
    assert names(with_verdicts(ranked, gate, [0.4, 0.5], Source.PASSAGE, sentence)) == ["no", "yes", "trowel"]
    assert with_verdicts(ranked, gate, [0.4, 0.5], Source.PASSAGE, sentence)[0].span == sentence
    assert names(with_verdicts(ranked, gate, [0.1, 0.5], Source.PASSAGE, sentence)) == ["trowel", "no", "yes"]
    assert with_verdicts(ranked, gate, [], Source.PASSAGE, sentence) == ranked
    said = with_verdicts(ranked, gate, [0.4, 0.5], Source.KNOWLEDGE, None)
    assert said[0].source is Source.KNOWLEDGE and said[0].span is None
