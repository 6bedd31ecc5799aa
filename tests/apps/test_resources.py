import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from apps.resources import others, shared_answerer, shared_graph
from kgqa.types import Answer, Passage, Question


def test_many_visitors_at_a_time_each_get_their_own_answer(small_app: Path) -> None:
    answerer = shared_answerer()
    questions = [
        Question("What did I dig with?", (), Passage(f"I plant flowers {'red ' * n}.")) for n in range(20)
    ]
    alone = [answerer.answer(q) for q in questions]

    def plain(answer: Answer) -> tuple[str, str | None, float]:
        return answer.question.passage_text, answer.text, round(answer.confidence, 5)

    with ThreadPoolExecutor(8) as visitors:
        together = list(visitors.map(answerer.answer, questions * 2))
    assert [plain(a) for a in together] == [plain(a) for a in alone * 2]
    assert shared_answerer() is answerer


def test_readers_named_at_the_start_can_be_compared(small_app: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = small_app.parent / "model"
    assert "model" not in others()  # it is the one that answers
    shutil.copytree(folder, folder.with_name("other"))
    monkeypatch.setenv("KGQA_READERS", str(folder.with_name("other")))
    assert others()["other"] == str(folder.with_name("other"))


def test_the_quicker_reader_leaves_other_languages_to_the_same_one(
    small_app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from apps import resources

    folder = str(small_app.parent / "model")
    languages = resources.shared_answerer().multilingual_reader = object()
    monkeypatch.setattr(resources, "quicker", lambda: folder)
    assert resources.reader(folder).multilingual_reader is languages


def test_relations_and_facts_are_said_in_the_visitors_language(monkeypatch: pytest.MonkeyPatch) -> None:
    from apps import resources
    from apps.views import why
    from kgqa.graph.load import open_graph

    graph = open_graph("everyday")
    (trowel,) = graph.find(["trowel"])[0][:1].tolist()
    name = graph.names(np.array([trowel], dtype=np.int32))[0]
    for language, word in (("en", "trowel"), ("ko", "모종삽")):
        monkeypatch.setattr(resources, "language", lambda language=language: language)
        monkeypatch.setattr(why, "language", lambda language=language: language)
        facts = why.paths_text("trowel", name, graph)
        assert facts and all(word in fact for fact in facts)
    (flower,) = graph.names(graph.find(["flower"])[0][:1])
    for module in (resources, why):
        monkeypatch.setattr(module, "language", lambda: "en")
    assert "what people do with a flower: pick flowers" in why.paths_text("flower", flower, graph)


def test_an_app_may_let_a_service_answer(
    open_page, served, small_app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from apps import resources
    from kgqa.qa.answerer import Answerer

    with served(Answerer.load(str(small_app.parent / "model"), str(small_app), device="cpu")) as url:
        monkeypatch.setenv("KGQA_SERVER", url)
        loads: list[str] = []
        monkeypatch.setattr(resources.Answerer, "load", lambda *a, **k: loads.append("loaded"))
        page = open_page("ask").run()
        page.button(key="example0").click().run()
        assert not page.exception and not page.error and not loads
        answer = page.session_state["answer"]
        assert answer.graph == shared_graph().name
        page.text_input(key="add_head0").input("Excavators")
        page.text_input(key="add_tail0").input("planting flowers")
        next(b for b in page.button if b.label == "Ask again").click().run()
        assert not page.exception and not page.error and len(page.session_state["steps"]) == 1
        about = open_page("about").run()
        assert not about.exception and not loads
