"""Pools are written and read as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from features.errors import BadInput
from features.pool import Pool, Shape


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a100/whole-node", Pool("a100", Shape.WHOLE_NODE)),
        ("a100/whole", Pool("a100", Shape.WHOLE_NODE)),
        ("a100/frag", Pool("a100", Shape.FRAGMENT)),
        ("team/a100/fragment", Pool("team/a100", Shape.FRAGMENT)),
        ("A100-SXM4-80GB", Pool("A100-SXM4-80GB", Shape.MIXED)),
        ("site/a100", Pool("site/a100", Shape.MIXED)),
    ],
)
def test_parse(text, expected):
    """A known shape behind the last slash is a shape; anything else belongs to the name."""
    assert expected == Pool.parse(text)


@given(st.text(min_size=1).filter(lambda text: text.strip()), st.sampled_from(list(Shape)))
def test_text_reads_back(gpu_type, shape):
    """What is written is read as the same pool, for any name without a shape of its own."""
    pool = Pool(gpu_type.strip(), shape)
    if shape is Shape.MIXED and Pool.parse(gpu_type).shape is not Shape.MIXED:
        return
    assert pool == Pool.parse(str(pool))


def test_empty_name_is_refused():
    """A pool without a GPU type is no pool."""
    with pytest.raises(BadInput, match="needs a GPU type"):
        Pool.parse("  ")
