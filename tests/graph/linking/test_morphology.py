from __future__ import annotations

import subprocess
import sys

import pytest

from kgqa.graph.linking.linker import Linker
from kgqa.graph.linking.morphology import dictionary_form, has_analyser, is_korean, morphemes

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
        ("파자", "파다"),
        ("팠니", "파다"),
        ("팠어요", "파다"),
        ("팠습니다", "파다"),
        ("파셨습니까", "파다"),
        ("구워", "굽다"),
        ("들으며", "듣다"),
        ("도와주었다", "돕다"),
        ("청소하신", "청소하다"),
        ("의사였다", "의사"),
        ("삽으로", ""),
    ],
)
def test_predicates_of_all_speech_levels_in_their_dictionary_form(word, form):
    assert dictionary_form(f"{word}.", 0, len(word)) == form


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
