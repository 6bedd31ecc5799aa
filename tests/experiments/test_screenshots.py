from pathlib import Path

from apps.examples import EXAMPLES
from training.bench.screenshots import EXAMPLE, PICTURES, VIEWS, smaller


def test_the_pictures_are_where_the_readme_looks() -> None:
    root = Path(__file__).parents[2]
    readme = (root / "README.md").read_text(encoding="utf-8")
    for picture in PICTURES:
        assert picture.relative_to(root).as_posix() in readme and picture.stat().st_size < 150_000
    assert EXAMPLE in EXAMPLES and len(VIEWS) == 12


def test_fewer_colours_and_the_same_size(tmp_path: Path) -> None:
    from PIL import Image

    picture = tmp_path / "picture.png"
    noise = Image.effect_noise((200, 100), 80).convert("RGB")
    noise.save(picture)
    before = picture.stat().st_size
    smaller(picture)
    with Image.open(picture) as image:
        assert image.size == (200, 100) and picture.stat().st_size <= before
