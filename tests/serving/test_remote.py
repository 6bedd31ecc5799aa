"""Answers that went over HTTP are those that were given."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest
from support.web import Quiet, running

from kgqa.cli.ask import ask_server
from kgqa.graph.storage.store import GraphStore
from kgqa.qa.answerer import Answerer
from kgqa.qa.render import add, answer_json, remove
from kgqa.serving.remote import Client, ServedAnswerer, answer_of
from kgqa.types import (
    Answer,
    Candidate,
    Evidence,
    EvidencePath,
    InputError,
    Item,
    Passage,
    Question,
    Source,
    Subgraph,
)

QUESTION = Question("What did I dig with?", (), Passage("I plant flowers."))


@pytest.fixture
def answerer(model_folder: Path, tools_file: Path) -> Answerer:
    return Answerer.load(str(model_folder), str(tools_file), device="cpu")


def test_an_answer_is_read_back_as_it_was_shown(answerer: Answerer) -> None:
    answer = answerer.answer(replace(QUESTION, passage=None))
    body = json.loads(json.dumps(answer_json(answer, full=True)))
    relations = {relation.name: relation for relation in answerer.graph.relations}
    back = answer_of(answer.question, body, relations)
    again = answer_json(back, full=True)
    for name in ("subgraph", "paths"):
        body["evidence"].pop(name), again["evidence"].pop(name)
    assert again == body
    paths = [
        [answer.evidence.triples(p), back.evidence.triples(p2)]
        for p, p2 in zip(answer.evidence.paths, back.evidence.paths, strict=True)
    ]
    assert all([t.head for t in one] == [t.head for t in other] for one, other in paths)
    with pytest.raises(LookupError):
        answer_of(answer.question, {**body, "evidence": {}}, relations)


def test_the_attribution_of_an_earlier_service_is_read(digging: Subgraph) -> None:
    answer = Answer(
        QUESTION, "trowel", Source.KNOWLEDGE, 0.5, (), Evidence(subgraph=digging, attribution=0.25)
    )
    body = answer_json(answer)
    body["evidence"]["influence"] = body["evidence"].pop("attribution")
    assert answer_of(QUESTION, body, {}).evidence.attribution == 0.25


def test_several_things_are_read_back_each_with_its_facts(digging: Subgraph) -> None:
    paths = EvidencePath((0,), (False,), 0.5), EvidencePath((2,), (True,), 0.5)
    items = Item("trowel", "ev:trowel", path=paths[0]), Item("excavator", "ev:excavator", path=paths[1])
    answer = Answer(
        QUESTION,
        "trowel, excavator",
        Source.KNOWLEDGE,
        0.5,
        (Candidate("trowel", Source.KNOWLEDGE, 0.5, concept="ev:trowel"),),
        Evidence(paths=paths[:1], subgraph=digging),
        items=items,
    )
    back = answer_of(QUESTION, json.loads(json.dumps(answer_json(answer))), {})
    assert [item.concept for item in back.items] == ["ev:trowel", "ev:excavator"] and back.best == "trowel"
    reported = [back.evidence.triples(item.path) for item in back.items if item.path]
    assert [[t.head for t in triples] for triples in reported] == [["ev:trowel"], ["ev:excavator"]]


def test_a_service_stands_in_for_a_reader(
    answerer: Answerer, served: Callable[[Answerer], AbstractContextManager[str]]
) -> None:
    with served(answerer) as url:
        remote = ServedAnswerer(url, answerer.graph)
        here, there = answerer.answer_many([QUESTION])[0], remote.answer(QUESTION)
        assert (there.text, there.source, there.question) == (here.text, here.source, QUESTION)
        assert [a.text for a in remote.answer_many([QUESTION, QUESTION])] == [here.text] * 2
        proven = answerer.answer(QUESTION)
        log_odds_drops = [i.sentence for i in answerer.attributions(proven)]
        assert sorted(i.sentence for i in remote.attributions(there)) == sorted(log_odds_drops)
        relation = answerer.graph.relations[0]
        edits = [add(remote.linker, "excavator", relation, "plant flowers")]
        edits += [remove(here.evidence.subgraph, e) for e in range(len(here.evidence.subgraph.edges))][:1]
        assert remote.ask_again(QUESTION, edits).text == answerer.ask_again(QUESTION, edits).text
        with pytest.raises(InputError, match="empty"):
            remote.answer(Question(" "))
        with pytest.raises(InputError, match="half a character"):
            remote.answer_many([Question("\ud800")])
        with pytest.raises(InputError, match="does not serve"):
            ServedAnswerer(url, GraphStore.from_triples([], name="another"))
    with pytest.raises(InputError, match="no answer"):
        ServedAnswerer("http://127.0.0.1:9", answerer.graph)


@pytest.fixture
def server():
    """Repeats what it is sent; refuses the question "bad"."""

    class Handler(Quiet):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            bad = body.get("question") == "bad"
            sent = (
                {"detail": "the question is bad; ask another"}
                if bad
                else {"path": self.path, "answers": [], **body}
            )
            sent["key"] = self.headers.get("Authorization", "")
            self.reply(422 if bad else 200, json.dumps(sent).encode())

    with running(Handler) as url:
        yield url


def test_every_method_asks_its_path(server: str) -> None:
    client = Client(server, key="k", graph="garden")
    asked = client.answer("q", "p", ("a",))
    assert asked["path"] == "/v1/answer" and asked["graph"] == "garden" and asked["key"] == "Bearer k"
    assert client.explain("q")["path"] == "/v1/explain" and client.answers([{"question": "q"}]) == []
    edit = {"head": "a", "relation": "b", "tail": "c"}
    asked = client.what_if("q", add=[edit], remove=[edit])
    assert asked["add"] == asked["remove"] == [edit]


def test_refusals_and_silence_are_one_line(server: str) -> None:
    with pytest.raises(InputError, match="ask another"):
        Client(server).answer("bad")
    with pytest.raises(InputError, match="no answer"):
        Client("http://127.0.0.1:9", timeout_s=2).answer("q")
    with pytest.raises(InputError, match="expected http"):
        Client("file:///etc/passwd")


def test_the_command_names_reader_and_graph_to_the_service(
    server: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Question("q", passage=Passage("p"))
    ask_server(server, asked, "k", True, False, 0.2, model="mine", graph="garden")
    sent = json.loads(capsys.readouterr().out)
    assert sent["model"] == "mine" and sent["graph"] == "garden"
    ask_server(server, asked, "k", True, True, 0.2)
    sent = json.loads(capsys.readouterr().out)
    assert not {"model", "graph"} & sent.keys() and sent["path"] == "/v1/answer?full=true"
