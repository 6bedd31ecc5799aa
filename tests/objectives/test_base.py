import pytest

from kgqa.objectives.base import Objective


def test_an_objective_must_say_its_loss_and_its_export(tmp_path) -> None:
    with pytest.raises(NotImplementedError):
        Objective()(None)
    with pytest.raises(NotImplementedError):
        Objective().export(tmp_path)
