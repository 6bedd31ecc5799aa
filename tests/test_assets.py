import errno
from pathlib import Path

import pytest

from kgqa import assets
from kgqa.types import InputError


def test_what_is_shipped_is_there() -> None:
    for path in (assets.RELATIONS, assets.PARAPHRASES, assets.RESULTS, assets.CURVES, assets.APP):
        assert path.is_file()
    assert assets.GRAPHS.is_dir() and assets.MODELS.is_dir()


def test_the_environment_moves_caches_data_and_graphs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("XDG_CACHE_HOME", "KGQA_DATA", "KGQA_GRAPHS"):
        monkeypatch.delenv(name, raising=False)
    assert assets.cache_folder("graphs") == Path.home() / ".cache" / "kgqa" / "graphs"
    assert assets.data_folder() == Path("data") and assets.graph_folders() == [assets.GRAPHS]
    for name in ("XDG_CACHE_HOME", "KGQA_DATA", "KGQA_GRAPHS"):
        monkeypatch.setenv(name, str(tmp_path))
    assert assets.cache_folder("subgraphs") == tmp_path / "kgqa" / "subgraphs"
    assert assets.data_folder() == tmp_path and assets.graph_folders() == [tmp_path, assets.GRAPHS]
    assert assets.data_path("$KGQA_DATA/text") == tmp_path / "text"
    assert assets.expanded("$KGQA_DATA/kg") == str(tmp_path / "kg")


def test_readers_and_encoders_are_found_by_path_or_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, file in (("shipped/a", "reader.json"), ("own", "reader.json"), ("shipped/e", "config.json")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / file).touch()
    monkeypatch.setattr(assets, "MODELS", tmp_path / "shipped")
    assert assets.find_model("a") == tmp_path / "shipped" / "a"
    assert assets.find_model(tmp_path / "own") == tmp_path / "own"
    assert assets.find_encoder("e") == tmp_path / "shipped" / "e"
    assert assets.shipped_readers() == [tmp_path / "shipped" / "a"]
    with pytest.raises(InputError, match="nowhere.*shipped: a"):
        assets.find_model("nowhere")
    with pytest.raises(InputError, match="nowhere"):
        assets.find_encoder("nowhere")


def test_an_unset_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"\$NOT_SET_HERE is not set"):
        assets.expanded("$NOT_SET_HERE/kg/conceptnet_en.tsv.zst")
    with pytest.raises(InputError, match=r"\$\{NOT_SET_HERE\} is not set"):
        assets.expanded("texts/${NOT_SET_HERE}/a.txt")
    monkeypatch.delenv("KGQA_DATA", raising=False)
    with pytest.raises(InputError, match="environment variable"):
        assets.data_path("$KGQA_DATA/text")


def test_a_model_in_a_package_of_its_own_is_found_by_name_and_stands_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assets, "MODELS", tmp_path / "shipped")
    for folder in ("shipped/kgqa-small", "site/kgqa_base", "site/kgqa_base-0.1.0.dist-info"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "shipped/kgqa-small/reader.json").touch()
    assert assets.find_model(assets.DEFAULT_READER).name == "kgqa-small"  # what is here stands in
    (tmp_path / "site/kgqa_base/reader.json").touch()
    (tmp_path / "site/kgqa_base/__init__.py").write_text("raise SystemExit('imported')", encoding="utf-8")
    about = tmp_path / "site/kgqa_base-0.1.0.dist-info"
    (about / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: kgqa-base\nVersion: 0.1.0\n", encoding="utf-8"
    )
    (about / "entry_points.txt").write_text("[kgqa.models]\nkgqa-base = kgqa_base\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert assets.find_model(assets.DEFAULT_READER) == tmp_path / "site/kgqa_base"
    assert [folder.name for folder in assets.shipped_readers()] == ["kgqa_base", "kgqa-small"]


def test_a_file_is_replaced_whole_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "kept.txt"
    for text in ("old\n", "new\n"):
        assets.write_whole(path, text)
    assert path.read_text() == "new\n" and list(tmp_path.iterdir()) == [path]
    with pytest.raises(InputError, match="No such file"):
        assets.write_whole(tmp_path / "nowhere" / "kept.txt", "")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="no regular file"):
        assets.write_whole(tmp_path / "folder", "")
    assert sorted(other.name for other in tmp_path.iterdir()) == ["folder", "kept.txt"]


def test_a_writer_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "kept.txt"
    path.write_text("old")
    path.chmod(0o640)
    with (
        pytest.raises(InputError, match="kept.txt: cannot be written .No space"),
        assets.replacing(path) as part,
    ):
        part.write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(InputError, match="cannot be written .12 requested"), assets.replacing(path):
        raise OSError("12 requested and 0 written")  # numpy's, without a number
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]
    with assets.replacing(path) as part:
        part.write_text("new")
    assert path.read_text() == "new" and path.stat().st_mode & 0o777 == 0o640


def test_what_a_killed_writer_left_goes_and_what_another_writes_stays(tmp_path: Path) -> None:
    left = tmp_path / ".kept.txt.0123abcd.part"
    left.write_text("half")
    with assets.replacing(tmp_path / "kept.txt") as one, assets.replacing(tmp_path / "kept.txt") as other:
        assert not left.exists() and one.exists() and other.exists()
        one.write_text("one")
        other.write_text("other")
    assert [path.name for path in tmp_path.iterdir()] == ["kept.txt"]


def test_a_file_that_comes_to_be_there_is_not_replaced_unasked(tmp_path: Path) -> None:
    path = tmp_path / "kept.txt"
    with pytest.raises(InputError, match="--overwrite"), assets.replacing(path, overwrite=False) as part:
        part.write_text("new")
        path.write_text("mine")
    assert path.read_text() == "mine" and list(tmp_path.iterdir()) == [path]
    with pytest.raises(InputError, match="--overwrite"), assets.replacing(path, overwrite=False):
        pass
