"""Korean needs the extra `ko`."""

import pytest

pytest.importorskip("kiwipiepy")
