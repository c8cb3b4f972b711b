"""The shipped trees can be grown again, to the byte, from the public job tables."""

import pytest

from forecaster.tasks.pretraining import pretrain
from models.shipped import SHIPPED
from tests.integration.test_traces import TRACES


@pytest.mark.slow
@pytest.mark.skipif(not TRACES.exists(), reason="the public traces are not beside the project")
def test_the_same_tables_give_the_same_trees(tmp_path):
    """Every file of the shipped trees comes out the same."""
    pretrain(TRACES, tmp_path)
    for path in SHIPPED.rglob("*"):
        if path.is_file() and path.suffix != ".yaml":
            assert path.read_bytes() == (tmp_path / path.relative_to(SHIPPED)).read_bytes(), (
                path.name
            )
