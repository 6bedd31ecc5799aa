from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from kgqa.graph.linking import normalize as morphology
from kgqa.graph.linking.linker import Linker
from kgqa.graph.linking.normalize import (
    DETERMINERS,
    OPENERS,
    PARTICLES,
    PASSIVE,
    STOP_WORDS,
    SUBJECTS,
    dictionary_forms,
    given_names,
    has_analyser,
    is_known,
    is_korean,
    lemma,
    morphemes,
    normalise,
    people,
    split_local_name,
    stems,
    verb_bases,
    words,
)


def test_inflections_and_articles_fall_together() -> None:
    assert normalise("Planting the flowers") == normalise("plant flowers") == "plant flower"
    assert normalise("dug a hole") == normalise("dig the hole")


def test_only_articles_still_give_a_key() -> None:
    assert normalise("The") == "the"


def test_words_carry_character_ranges() -> None:
    assert words("It's raining.") == [("it's", 0, 4), ("raining", 5, 12)]


def test_local_names_are_split() -> None:
    assert split_local_name("http://example.org/tools#usedForDigging") == "used for digging"
    assert split_local_name("/c/en/ice_cream") == "ice cream"


def test_ing_forms_may_be_verbs() -> None:
    assert "build" in verb_bases("building") and "bake" in verb_bases("baking")
    assert "cut" in verb_bases("cutting")
    assert verb_bases("ring") == verb_bases("house") == verb_bases("ing") == ()


def test_things_are_not_taken_for_verbs() -> None:
    assert normalise("a saw") == "saw" != normalise("see")
    assert normalise("rake the leaves") == "rake leaf"


def test_known_words_are_those_of_english():
    assert is_known("shovels") and not is_known("umbrela")


def test_every_list_is_of_function_words_in_lower_case():
    for listed in (OPENERS, PASSIVE - {"get", "gets", "got"}, SUBJECTS - {"let", "please"}):
        assert listed <= STOP_WORDS
    assert all(word == word.lower() for word in STOP_WORDS | PARTICLES)


def test_openers_are_base_forms():
    assert {lemma(word) for word in OPENERS} == OPENERS


def test_determiners_hold_no_preposition_or_pronoun():
    assert not DETERMINERS & (PARTICLES | SUBJECTS)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Ngozi's spade broke, so Ji-woo asked Jack.", ["Ngozi", "Ji-woo", "Jack"]),
        ("Rose wanted to bake. What did Rose use?", ["Rose", "Rose"]),
        ("Bill paid the bill.", ["Bill"]),
        ("Then Hazel's hammer broke.", ["Hazel"]),
        ("Rose petals fell. Mark the spot. Jack up the car.", []),
        ("San Francisco, Santa Clara and the rose garden", []),
        ("JACK, the DIY man", []),
        ("Dr. Quillby and Mr Xu left. Quillby ran; Hill hid.", ["Quillby", "Xu", "Quillby"]),
        ("José met Łukasz, Élodie and Zoë's cat.", ["José", "Łukasz", "Élodie", "Zoë"]),
        ("", []),
    ],
)
def test_people(text: str, named: list[str]) -> None:
    assert [text[start:end] for start, end in people(text)] == named


def test_a_name_is_in_one_list() -> None:
    names, words_too = given_names()
    assert not names & words_too
    assert all(name[0].isupper() and name.isascii() and len(name) > 1 for name in names | words_too)


BEES = Path(__file__).parents[3] / "graph_data" / "examples" / "beekeeping.ttl"
needs_kiwi = pytest.mark.skipif(not has_analyser(), reason="needs the extra ko")


def test_korean_is_what_has_hangul_in_it():
    assert is_korean("삽 and spade") and not is_korean("spade, 鋤, かま") and not is_korean("")


def test_english_never_loads_the_analyser():
    code = "import sys; from kgqa.graph.linking.linker import _read; _read('I dug'); print('kiwipiepy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@needs_kiwi
def test_an_ending_before_a_question_mark_ends_the_sentence():
    assert [m.tag for m in morphemes("땅을 팠니?")][-2:] == ["EF", "SF"]


@needs_kiwi
def test_a_given_name_is_known():
    assert (morphemes("하준이는 웃었다.")[0].form, morphemes("하준이는 웃었다.")[0].tag) == ("하준", "NNP")


@needs_kiwi
@pytest.mark.parametrize(
    ("word", "form"),
    [
        ("파자", ("파다",)),
        ("팠니", ("파다",)),
        ("팠어요", ("파다",)),
        ("팠습니다", ("파다",)),
        ("파셨습니까", ("파다",)),
        ("구워", ("굽다",)),
        ("들으며", ("듣다",)),
        ("도와주었다", ("돕다",)),
        ("청소하신", ("청소하다",)),
        ("의사였다", ("의사",)),
        ("삽으로", ()),
    ],
)
def test_predicates_of_all_speech_levels_in_their_dictionary_form(word, form):
    assert dictionary_forms(f"{word}.", 0, len(word))[:1] == form


@needs_kiwi
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("국이 뜨거웠다.", ["뜨거운"]),
        ("새로 산 바지를 입어 봤다.", ["사다"]),
        ("우리가 누구를 봤니?", ["보다"]),
        ("소 우리를 지었다.", ["우리"]),
    ],
)
def test_a_word_is_linked_as_it_is_analysed(graph_of, text, found):
    graph = graph_of(
        [(concept, "IsA", "thing") for concept in ("뜨거운", "사다", "산", "우리", "누구", "보다")]
    )
    linked = [graph.labels(np_ids(mention.entities))[0] for mention in Linker(graph).link(text)]
    assert linked == found


@needs_kiwi
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("꽃을 심으셨습니까?", ["꽃을 심다"]),
        ("꽃을 심었단다.", ["꽃을 심다"]),
        ("빵을 구워 먹자", ["빵을 굽다"]),
        ("그는 의사였어요", ["의사"]),
    ],
)
def test_deeds_are_linked_in_every_ending(graph_of, text, found):
    graph = graph_of([(concept, "IsA", "thing") for concept in ("꽃을 심다", "빵을 굽다", "의사")])
    linked = [graph.labels(np_ids(mention.entities))[0] for mention in Linker(graph).link(text)]
    assert linked == found


def np_ids(entities):
    import numpy as np

    return np.array(entities, dtype=np.int32)


ASKED = """
import json, sys
if sys.argv[1] == "without":
    sys.modules["kiwipiepy"] = None
from kgqa import load
from kgqa.qa.render import answer_json
from kgqa.graph.linking.normalize import has_analyser
from kgqa.types import Passage, Question
reader = load("kgqa-small", sys.argv[2], device="cpu")
questions = [
    Question("What is a smoker used for?"),
    Question("Where do the bees live?", passage=Passage("The bees live in a box behind the shed.")),
    Question("What does a beekeeper wear?", ("veil", "trowel")),
]
told = [answer_json(answer) for answer in reader.answer_many(questions)]
told = [{key: value for key, value in answer.items() if key != "timing_ms"} for answer in told]
loaded = [name for name in sys.modules if name.startswith("kiwipiepy.")]
print(json.dumps([has_analyser(), loaded, told]))
"""


@needs_kiwi
def test_english_is_answered_the_same_without_the_extra():
    runs = {}
    for extra in ("with", "without"):
        command = [sys.executable, "-c", ASKED, extra, str(BEES)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        runs[extra] = json.loads(done.stdout.splitlines()[-1])
    assert (runs["with"][0], runs["without"][0]) == (True, False)
    assert runs["with"][1] == [], "English loads nothing that is Korean"
    assert runs["with"][2] == runs["without"][2]


@needs_kiwi
def test_long_texts_are_not_all_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    analyser = SimpleNamespace(tokenize=lambda piece: (read.append(piece), [])[1])
    monkeypatch.setattr(morphology, "_kiwi", lambda: analyser)
    texts = [f"{n} " + "땅을 팠다. " * 250 for n in range(300)]
    for text in [*texts, texts[-1], texts[0]]:
        morphemes(text)
    assert len(read) == len(texts) + 1


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
