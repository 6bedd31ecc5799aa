import errno
import re
from pathlib import Path

import pytest

from kgqa import settings
from kgqa.types import InputError


def test_what_is_shipped_is_there() -> None:
    for path in (settings.RELATIONS, settings.PARAPHRASES, settings.CURVES, settings.APP):
        assert path.is_file()
    assert settings.GRAPHS.is_dir() and settings.MODELS.is_dir()


def test_the_environment_moves_caches_data_and_graphs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("XDG_CACHE_HOME", "KGQA_DATA", "KGQA_GRAPHS"):
        monkeypatch.delenv(name, raising=False)
    assert settings.cache_folder("graphs") == Path.home() / ".cache" / "kgqa" / "graphs"
    assert settings.data_folder() == Path("data") and settings.graph_folders() == [settings.GRAPHS]
    for name in ("XDG_CACHE_HOME", "KGQA_DATA", "KGQA_GRAPHS"):
        monkeypatch.setenv(name, str(tmp_path))
    assert settings.cache_folder("subgraphs") == tmp_path / "kgqa" / "subgraphs"
    assert settings.data_folder() == tmp_path and settings.graph_folders() == [tmp_path, settings.GRAPHS]
    assert settings.data_path("$KGQA_DATA/text") == tmp_path / "text"
    assert settings.expanded("$KGQA_DATA/kg") == str(tmp_path / "kg")


def test_the_environment_is_read_in_one_table(monkeypatch: pytest.MonkeyPatch) -> None:
    sources = [*Path(settings.__file__).parent.rglob("*.py"), *settings.APP.parent.rglob("*.py")]
    texts = {path.name: path.read_text(encoding="utf-8") for path in sources}
    # elsewhere it is only set, or handed on to a child process
    other = re.compile(r"getenv|(?<!\*\*os\.)\benviron\b(?!\.(setdefault|update)\(|\[[^]]+\] = )")
    assert [name for name, text in texts.items() if other.search(text)] == ["settings.py"]
    asked = {name for text in texts.values() for name in re.findall(r"setting\(.(\w+).\)", text)}
    assert asked == {*settings.VARIABLES} and "KGQA_DATA" in asked
    monkeypatch.setenv("KGQA_PRECISION", "")
    assert settings.setting("KGQA_PRECISION") == "auto"


def test_the_variables_are_documented() -> None:
    text = (settings.ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    for name, (meaning, default) in settings.VARIABLES.items():
        if name.startswith(("KGQA_", "XDG_")) and "set by" not in meaning:
            assert f"| `{name}` | {meaning}{f'; default: `{default}`' if default else ''} |\n" in text


def test_readers_and_encoders_are_found_by_path_or_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, file in (("shipped/a", "reader.json"), ("own", "reader.json"), ("shipped/e", "config.json")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / file).touch()
    monkeypatch.setattr(settings, "MODELS", tmp_path / "shipped")
    assert settings.find_model("a") == tmp_path / "shipped" / "a"
    assert settings.find_model(tmp_path / "own") == tmp_path / "own"
    assert settings.find_encoder("e") == tmp_path / "shipped" / "e"
    assert settings.shipped_readers() == [tmp_path / "shipped" / "a"]
    with pytest.raises(InputError, match="nowhere.*shipped: a"):
        settings.find_model("nowhere")
    with pytest.raises(InputError, match="nowhere"):
        settings.find_encoder("nowhere")
    assert settings.model_folder("e") == tmp_path / "shipped" / "e"
    assert settings.model_folder("nowhere") == Path("nowhere")
    for file, find in (("reader.json", settings.find_model), ("config.json", settings.find_encoder)):
        (tmp_path / "run" / "export").mkdir(parents=True, exist_ok=True)
        (tmp_path / "run" / "export" / file).touch()
        with pytest.raises(InputError, match=f"did you mean {tmp_path / 'run' / 'export'}"):
            find(str(tmp_path / "run"))


def test_an_unset_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"\$NOT_SET_HERE is not set"):
        settings.expanded("$NOT_SET_HERE/kg/conceptnet_en.tsv.zst")
    with pytest.raises(InputError, match=r"\$\{NOT_SET_HERE\} is not set"):
        settings.expanded("texts/${NOT_SET_HERE}/a.txt")
    monkeypatch.delenv("KGQA_DATA", raising=False)
    with pytest.raises(InputError, match="environment variable"):
        settings.data_path("$KGQA_DATA/text")


def test_a_model_in_a_package_of_its_own_is_found_by_name_and_stands_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(settings, "MODELS", tmp_path / "shipped")
    for folder in ("shipped/kgqa-small", "site/kgqa_base", "site/kgqa_base-0.1.0.dist-info"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "shipped/kgqa-small/reader.json").touch()
    settings.warn_once.cache_clear()
    for _ in range(2):
        assert settings.find_model(settings.DEFAULT_READER).name == "kgqa-small"  # what is here stands in
    (reported,) = caplog.messages
    assert (
        reported.startswith("kgqa-base is not installed; the smaller kgqa-small is used")
        and "kgqa_base" in reported
    )
    assert settings.find_model("kgqa-small") and len(caplog.messages) == 1
    (tmp_path / "site/kgqa_base/reader.json").touch()
    (tmp_path / "site/kgqa_base/__init__.py").write_text("raise SystemExit('imported')", encoding="utf-8")
    about = tmp_path / "site/kgqa_base-0.1.0.dist-info"
    (about / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: kgqa-base\nVersion: 0.1.0\n", encoding="utf-8"
    )
    (about / "entry_points.txt").write_text("[kgqa.models]\nkgqa-base = kgqa_base\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert (
        settings.find_model(settings.DEFAULT_READER) == tmp_path / "site/kgqa_base"
        and len(caplog.messages) == 1
    )
    assert [folder.name for folder in settings.shipped_readers()] == ["kgqa_base", "kgqa-small"]


def test_a_file_is_replaced_whole_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "kept.txt"
    for text in ("old\n", "new\n"):
        settings.write_whole(path, text)
    assert path.read_text() == "new\n" and list(tmp_path.iterdir()) == [path]
    with pytest.raises(InputError, match="No such file"):
        settings.write_whole(tmp_path / "nowhere" / "kept.txt", "")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="not a regular file"):
        settings.write_whole(tmp_path / "folder", "")
    assert sorted(other.name for other in tmp_path.iterdir()) == ["folder", "kept.txt"]


def test_a_writer_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "kept.txt"
    path.write_text("old")
    path.chmod(0o640)
    with (
        pytest.raises(InputError, match="kept.txt: cannot be written .No space"),
        settings.replacing(path) as part,
    ):
        part.write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(InputError, match="cannot be written .12 requested"), settings.replacing(path):
        raise OSError("12 requested and 0 written")  # numpy's, without a number
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]
    with settings.replacing(path) as part:
        part.write_text("new")
    assert path.read_text() == "new" and path.stat().st_mode & 0o777 == 0o640


def test_what_a_killed_writer_left_goes_and_what_another_writes_stays(tmp_path: Path) -> None:
    left = tmp_path / ".kept.txt.0123abcd.part"
    left.write_text("half")
    with settings.replacing(tmp_path / "kept.txt") as one, settings.replacing(tmp_path / "kept.txt") as other:
        assert not left.exists() and one.exists() and other.exists()
        one.write_text("one")
        other.write_text("other")
    assert [path.name for path in tmp_path.iterdir()] == ["kept.txt"]


def test_a_file_that_comes_to_be_there_is_not_replaced_unasked(tmp_path: Path) -> None:
    path = tmp_path / "kept.txt"
    with pytest.raises(InputError, match="--overwrite"), settings.replacing(path, overwrite=False) as part:
        part.write_text("new")
        path.write_text("mine")
    assert path.read_text() == "mine" and list(tmp_path.iterdir()) == [path]
    with pytest.raises(InputError, match="--overwrite"), settings.replacing(path, overwrite=False):
        pass


def test_a_reader_that_is_not_here_is_told_with_near_names_as_they_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kgqa_base").mkdir()
    (tmp_path / "kgqa_base/reader.json").touch()
    monkeypatch.setattr(settings, "shipped_readers", lambda: [tmp_path / "kgqa_base"])
    for wrong, hint in (
        ("kgqa-bas", "did you mean 'kgqa-base'?"),
        ("nothing", "shipped: kgqa-base"),
        ("kgqa-mini", "it is an encoder"),
        ("", "empty"),
    ):
        with pytest.raises(InputError, match=re.escape(hint)):
            settings.find_model(wrong)
    with pytest.raises(InputError, match="did you mean 'kgqa-mini'"):
        settings.find_encoder("kgqa-minni")
