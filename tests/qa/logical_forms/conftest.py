"""A small graph that the forms are executed over."""

from __future__ import annotations

import pytest
from support.forms import TYPE, names_of

from kgqa.qa.logical_forms.graph_index import NameLookup

NARROWER = "http://www.w3.org/2000/01/rdf-schema#subClassOf"
XSD = "http://www.w3.org/2001/XMLSchema#"
FACTS = f"""
Van|{NARROWER}|Vehicle
Rook|{TYPE}|Van
Swift|{TYPE}|Van
Heron|{TYPE}|Vehicle
Rook|top speed|"120"^^<{XSD}integer>
Swift|top speed|"140"^^<{XSD}integer>
Heron|top speed|"140"^^<{XSD}integer>
Rook|load|"900 kg"
Swift|load|"1 t"
Rook|bought|"2018-05-03"^^<{XSD}date>
Swift|bought|"2019-01-07"^^<{XSD}date>
Rook|checked|"2020-05-03T09:05:00"^^<{XSD}dateTime>
Swift|checked|"2020-03-07T14:30:00"^^<{XSD}dateTime>
Rook|trip|"PT1H30M"^^<{XSD}duration>
Swift|trip|"PT45M"^^<{XSD}duration>
Rook|driver|Mia Orbell
Swift|driver|Tom Firth
Heron|driver|Tom Firth
Tom Firth|salary|"2100"^^<{XSD}integer>
Mia Orbell|salary|"2500"^^<{XSD}integer>
"""


@pytest.fixture(scope="session")
def names() -> NameLookup:
    return names_of(FACTS)
