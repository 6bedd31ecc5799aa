"""What `kgqa train` reads of a recipe for a reader."""

from __future__ import annotations

from pydantic import Field, model_validator

from kgqa.assets import MODELS, expanded
from kgqa.models.collation.reading import ReadingSettings
from kgqa.models.reasoners import ReasonerSettings
from kgqa.models.vectors.word_vectors import FILE as WORDS
from kgqa.trainer.data.mixture import DataSettings
from kgqa.trainer.recipe import Settings, TrainerSettings


class EncoderSettings(Settings):
    """Where the reading begins."""

    folder: str = "kgqa-mini"
    """A Hugging Face folder (ours or any), a shipped name, or a reader's folder to go on from."""
    from_scratch: bool = False
    """Take the architecture only, with random weights (for comparison)."""
    dropout: float | None = Field(None, ge=0, lt=1)
    """Dropout inside the encoder; None keeps its own. 0 is a fifth faster on a CPU."""
    freeze_words: bool = False
    """Leave the word embeddings as they are."""
    freeze_layers: int = Field(0, ge=0)
    """Leave so many first layers, and what lies below, as they are: a step takes less time (Lee et al., 2019)."""


class AnsweringRecipe(Settings):
    """Everything `kgqa train` needs; the resolved recipe is stored in the checkpoint."""

    name: str = "reader"
    encoder: EncoderSettings = EncoderSettings()
    reasoner: ReasonerSettings = ReasonerSettings()
    data: list[DataSettings] = Field(min_length=1)
    reading: ReadingSettings = ReadingSettings()
    paraphrase: float = Field(0.5, ge=0, le=1)
    """Share of the relations that training says in other words (graph_data/paraphrases.toml)."""
    without_facts: float = Field(0.0, ge=0, le=1)
    """Share of the questions that training asks without the facts of their subgraphs, so that no head leans on them."""
    development: list[DataSettings] = []
    """Data sets that are measured and not trained on: each `trainer.evaluate_every_steps`, for `trainer.patience` and
    `trainer.best_metric`: loss, accuracy, or that of a sort (accuracy_choice, _passage, _knowledge, _verdict). The
    exported reader is then the best one."""
    held_out: float = Field(0.0, ge=0, lt=0.5)
    """Share of each data set, the same passages for every seed, that is taken out of it for the same."""
    teacher: str = ""
    """Folder or shipped name of a trained reader whose soft answers are learnt beside the gold ones."""
    temperature: float | None = Field(None, gt=0)
    """Of the soft answers, 2 if not given."""
    soft: float | None = Field(None, ge=0, le=1)
    """The teacher's weight, 0.5 if not given; the gold answers have the rest."""
    sift: float = Field(0.0, ge=0)
    """Weight of virtual adversarial training (He et al., 2021, section 4.3); 0 is none."""
    store_subgraphs: bool = True
    """Retrieve all subgraphs before the first step and keep them on disk; else when a step first needs them."""
    words: str = ""
    """Folder of word vectors that `kgqa words` wrote, or a shipped encoder that has some; the reader keeps them."""
    entities: str = ""
    """Folder of entity vectors that `kgqa graph embed` wrote; ERNIE reads them and the reader keeps them."""
    trainer: TrainerSettings = TrainerSettings()

    @model_validator(mode="after")
    def _rows_where_words_are_marked(self) -> AnsweringRecipe:
        if self.words and self.reading.branches:
            raise ValueError("word vectors are read in rows; leave out words, or set reading.branches=false")
        return self

    def located(self) -> AnsweringRecipe:
        """The same recipe with the environment's variables in its names, for use; the card keeps them as written.

        Raises:
            InputError: a variable is not set.
        """
        words = expanded(self.words)
        shipped = MODELS / words
        return self.model_copy(
            update={
                "data": [located(settings) for settings in self.data],
                "development": [located(settings) for settings in self.development],
                "entities": expanded(self.entities),
                "words": str(shipped) if words and (shipped / WORDS).is_file() else words,
            }
        )


def located(settings: DataSettings) -> DataSettings:
    """A data set's settings with the environment's variables in its names.

    Raises:
        InputError: a variable is not set.
    """
    texts = tuple(expanded(text) for text in settings.texts)
    named = {"name": expanded(settings.name), "graph": expanded(settings.graph), "texts": texts}
    return settings.model_copy(update=named)
