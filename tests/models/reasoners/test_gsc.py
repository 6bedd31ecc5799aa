from kgqa.models.encoders.layerwise import LayerwiseEncoder
from kgqa.models.reasoners import ReasonerSettings
from kgqa.models.reasoners.gsc import GSC


def test_the_counter_is_small(encoder) -> None:
    reasoner = GSC(LayerwiseEncoder(encoder), ReasonerSettings(name="gsc"))
    own = sum(p.numel() for n, p in reasoner.named_parameters() if not n.startswith("labels."))
    assert own < 3000
