"""Names in logical forms: labels, local names and IRIs to the numbers of a graph, and back."""

from __future__ import annotations

import difflib

from kgqa.answering.logical_forms.facts import GraphFacts
from kgqa.answering.logical_forms.language import Form, parse, show
from kgqa.graph.linking.normalising import split_local_name
from kgqa.types import InputError


class Names:
    """Finds the entities and relations that a form names by label or IRI.

    Args:
        facts: the graph.
    """

    def __init__(self, facts: GraphFacts) -> None:
        self.facts = facts
        self._relations: dict[str, int] = {}
        for number, relation in enumerate(facts.graph.relations):
            local = relation.name.rstrip("/#").replace("#", "/").replace(":", "/").rsplit("/", 1)[-1]
            for text in (
                relation.name,
                relation.label,
                relation.words,
                local,
                split_local_name(relation.name),
            ):
                if text:
                    self._relations.setdefault(_key(text), number)

    def entity(self, text: str) -> int:
        """The entity of a label or IRI.

        Raises:
            InputError: there is none.
        """
        (number,) = self.facts.graph.ids([text]).tolist()
        if number >= 0:
            return int(number)
        (found,) = self.facts.graph.find([text])
        if not len(found):
            (found,) = self.facts.graph.find([split_local_name(text)])
        if not len(found):
            raise InputError(
                f"{text!r}: nothing in {self.facts.graph.name} is called so; try `kgqa graph search`"
            )
        labels = {int(e): self.facts.label(int(e)) for e in found}
        return min(labels, key=lambda e: labels[e] != text)

    def relation(self, text: str) -> int:
        """The relation of a label, local name or IRI.

        Raises:
            InputError: there is none.
        """
        number = self._relations.get(_key(text))
        first, _, rest = text.partition("/")
        if number is None and rest and _key(rest) not in self._relations:
            number = self._relations.get(
                _key(first)
            )  # a value with its unit is one node: "weight/numericValue"
        if number is None:
            near = difflib.get_close_matches(_key(text), self._relations, n=1, cutoff=0.0)
            hint = (
                f"; the nearest is {self.facts.graph.relations[self._relations[near[0]]].label!r}"
                if near
                else ""
            )
            raise InputError(f"{text!r}: no relation of {self.facts.graph.name}{hint}")
        return number

    def parse(self, text: str) -> Form:
        """The form that an s-expression says.

        Raises:
            InputError: it is no form, or a name is unknown.
        """
        return parse(text, self.entity, self.relation)

    def show(self, form: Form) -> str:
        """The s-expression of a form."""
        return show(form, self.facts.label, lambda r: self.facts.graph.relations[r].label)


def _local(name: str) -> str:
    return name.rstrip("/#").replace("#", "/").replace(":", "/").rsplit("/", 1)[-1]


def _key(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum()) or text
