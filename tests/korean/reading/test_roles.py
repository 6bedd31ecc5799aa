from __future__ import annotations

from kgqa.korean.reading.clauses import Roles, is_time, words_of
from kgqa.korean.reading.parse import parse


def roles(text):
    return Roles.of(parse(text)[0].clauses[-1])


def forms(phrases):
    return [p.nouns[-1].form for p in phrases]


def test_particles_tell_what_a_phrase_is():
    found = roles("아버지가 마당에서 삽으로 땅을 팠다.")
    assert (forms(found.subjects), forms(found.objects), forms(found.adverbials)) == (
        ["아버지"],
        ["땅"],
        ["마당", "삽"],
    )


def test_the_topic_of_a_clause_with_a_subject_is_its_object():
    found = roles("케이크는 삼촌이 구웠다.")
    assert (forms(found.subjects), forms(found.objects), found.topics) == (["삼촌"], ["케이크"], [])


def test_to_whom_something_is_needed_needs_it():
    found = roles("유나에게 우산이 필요했다.")
    assert found.settle_felt("필요하다")
    assert (forms(found.topics), forms(found.objects)) == (["유나"], ["우산"])


def test_what_is_somewhere():
    found = roles("방에 책이 있다.")
    assert forms(found.there) == ["책"]


def test_times():
    phrase = parse("나는 금요일에 갔다.")[0].clauses[0].phrases[1]
    assert is_time(phrase)


def test_words_of_a_clause():
    assert {"개", "짖다", "커다랗다"} <= set(words_of(parse("커다란 개가 짖었다.")[0].clauses[0]))
