from pathlib import Path

from typer.testing import CliRunner

from kgqa.cli.main import app
from kgqa.models.vectors.word_vectors import load_words


def test_words_are_learnt_and_shown(tmp_path: Path) -> None:
    (tmp_path / "talk.txt").write_text("dig the garden with a trowel\nthe crane lifts a roof\n" * 50)
    recipe = tmp_path / "words.toml"
    recipe.write_text(f'folder = "{tmp_path}"\nsize = 8\n[sources]\n"talk.txt" = 1.0\n')
    line = ["words", str(recipe), "subsample=1.0", "--out", str(tmp_path / "out"), "--show", "trowel"]
    result = CliRunner().invoke(app, line)
    assert result.exit_code == 0, result.output
    assert "garden" in result.output and load_words(tmp_path / "out").size == 8
