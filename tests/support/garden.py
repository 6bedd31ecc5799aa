"""A small graph in Turtle that tests of several modules read."""

GARDEN = """@prefix ex: <http://x/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
ex:trowel a owl:NamedIndividual ; rdfs:label "Trowel"@en, "모종삽"@ko ; skos:altLabel "hand shovel"@en ;
    ex:usedFor ex:digBed ; ex:isA ex:tool ; ex:isA ex:trowel ; ex:mass 3 .
ex:excavator rdfs:label "excavator" ; ex:usedFor ex:digPit ; ex:isA ex:tool .
ex:tool rdfs:label "say \\"tool\\" \\\\ now"@en .
ex:usedFor rdfs:label "serves for"@en .
"""
