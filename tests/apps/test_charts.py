from apps.charts import Point, chart

TITLES = ("tokens (millions)", "loss", "run")


def test_a_chart_is_read_aloud_as_its_description() -> None:
    drawn = chart([Point(1.0, 7.5, "small"), Point(2.0, 6.5, "small")], TITLES, "Loss falls.")
    assert drawn["description"] == "Loss falls." and drawn["encoding"]["x"]["title"] == TITLES[0]
    assert drawn["mark"] == {"type": "line", "aria": False, "point": {"aria": False}}


def test_names_are_bars_side_by_side() -> None:
    drawn = chart([Point("none", 0.5, "all"), Point("none", 0.2, "less")], TITLES, "More.", shares=True)
    assert (
        drawn["mark"] == {"type": "bar", "aria": False} and drawn["encoding"]["xOffset"]["field"] == "group"
    )
    assert drawn["encoding"]["y"]["axis"]["format"] == ".0%"
