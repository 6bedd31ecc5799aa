from __future__ import annotations

import pytest

from kgqa.graph.linking.normalize import stems


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("삽으로", "삽"),
        ("칼로", "칼"),
        ("가위로", "가위"),
        ("정원에서", "정원"),
        ("정원에서는", "정원"),
        ("꽃을", "꽃"),
        ("나무를", "나무"),
        ("친구들에게는", "친구"),
        ("부엌까지도", "부엌"),
        ("의사가", "의사"),
        ("우산이다", "우산"),
    ],
)
def test_a_word_without_its_particles(word, stem):
    assert stem in stems(word)


@pytest.mark.parametrize(("word", "no"), [("나무을", "나무"), ("삽로", "삽"), ("책가", "책"), ("에서", "")])
def test_a_particle_that_does_not_fit_the_sound_stays(word, no):
    assert no not in stems(word)


def test_the_longest_comes_first_and_other_scripts_have_none():
    assert stems("친구들에게는")[:3] == ("친구들에게", "친구들", "친구")
    assert stems("나는")[0] == "나"
    assert stems("trowel") == stems("") == stems("스푼s") == ()


@pytest.mark.parametrize(
    ("word", "verb"),
    [
        ("심고", "심다"),
        ("심었다", "심다"),
        ("팠습니다", "파다"),
        ("마셨어요", "마시다"),
        ("배웠다", "배우다"),
        ("봤다", "보다"),
        ("청소했다", "청소하다"),
        ("먹으려고", "먹다"),
    ],
)
def test_a_verb_in_its_dictionary_form(word, verb):
    assert verb in stems(word)
