"""What a thing is called in another language, or besides: its labels as facts, where the question asks for them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kgqa.graph.linking.literals import literal_name
from kgqa.types import KnowledgeGraph, NodeRole, Relation, Subgraph

_CODES = {
    "en": "English 영어",
    "de": "German 독일어",
    "fr": "French 프랑스어",
    "es": "Spanish 스페인어",
    "it": "Italian 이탈리아어",
    "pt": "Portuguese 포르투갈어",
    "nl": "Dutch 네덜란드어",
    "sv": "Swedish 스웨덴어",
    "da": "Danish 덴마크어",
    "no": "Norwegian 노르웨이어",
    "fi": "Finnish 핀란드어",
    "pl": "Polish 폴란드어",
    "cs": "Czech 체코어",
    "hu": "Hungarian 헝가리어",
    "el": "Greek 그리스어",
    "la": "Latin 라틴어",
    "tr": "Turkish 터키어",
    "ru": "Russian 러시아어",
    "uk": "Ukrainian 우크라이나어",
    "ar": "Arabic 아랍어",
    "he": "Hebrew 히브리어",
    "hi": "Hindi 힌디어",
    "zh": "Chinese 중국어",
    "ja": "Japanese 일본어",
    "ko": "Korean 한국어",
}
_LANGUAGES = {word: code for code, said in _CODES.items() for word in said.split()}
_LANGUAGE = re.compile("|".join(_LANGUAGES))
_BESIDES = re.compile(
    r"\b(an)?other (name|word|term)s?\b|\b(also|else) (called|known|named)\b|\bsynonyms?\b|\balias(es)?\b|\bnick"
    r"|\balternative (name|label|term)s?\b|다른 이름|별명",
    re.IGNORECASE,
)
BESIDES = Relation("http://www.w3.org/2004/02/skos/core#altLabel", "other name", "is also called")


def with_other_names(
    subgraph: Subgraph, graph: KnowledgeGraph, question: str, ids: Sequence[int]
) -> Subgraph:
    """The subgraph with further labels of its linked concepts, as concepts of their own, where they are asked for.

    `ids` are the concepts' in `graph`.
    """
    languages = {_LANGUAGES[word] for word in _LANGUAGE.findall(question)}
    besides = bool(_BESIDES.search(question))
    if not (languages or besides):
        return subgraph
    nodes, labels = list(subgraph.nodes), list(subgraph.labels)
    relations = list(subgraph.relations)
    edges = []
    linked = sorted({link.node for link in subgraph.links if link.part is not NodeRole.CHOICE})
    for node in linked:
        for label in graph.all_labels(int(ids[node])):
            language = label.language.split("-")[0]
            if label.text == labels[node] or not (language in languages or (besides and not label.preferred)):
                continue
            relation = _in_language(language) if language in languages else BESIDES
            name = literal_name(label.text, label.language)
            if name not in nodes:
                nodes.append(name)
                labels.append(label.text)
            if relation not in relations:
                relations.append(relation)
            edges.append((node, relations.index(relation), nodes.index(name)))
    if not edges:
        return subgraph
    more = len(nodes) - len(subgraph.nodes)
    return replace(
        subgraph,
        nodes=tuple(nodes),
        labels=tuple(labels),
        roles=np.append(subgraph.roles, np.full(more, NodeRole.OTHER)).astype(np.int32),
        scores=np.append(subgraph.scores, np.ones(more)).astype(np.float32),
        edges=np.concatenate([subgraph.edges, np.array(edges, dtype=np.int32)]),
        weights=np.append(subgraph.weights, np.ones(len(edges))).astype(np.float32),
        relations=tuple(relations),
        near=np.append(subgraph.near, np.zeros(len(edges))).astype(np.float32)
        if len(subgraph.near)
        else subgraph.near,
    )


def _in_language(code: str) -> Relation:
    name = _CODES[code].split()[0]
    return Relation(f"urn:kgqa:label:{code}", f"in {name}", f"is called in {name}")
