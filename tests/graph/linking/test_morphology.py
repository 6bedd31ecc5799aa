from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from kgqa.graph.linking import normalize as morphology
from kgqa.graph.linking.linker import Linker
from kgqa.graph.linking.normalize import dictionary_form, has_analyser, is_korean, morphemes

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
loaded = [name for name in sys.modules if name.startswith(("kiwipiepy.", "kgqa.korean"))]
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
