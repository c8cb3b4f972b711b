"""Options of a node pool: each mistake is one line that says where it is."""

import pytest

from actuator.backends.options import Options
from actuator.policy import NodePoolPolicy
from features.errors import BadInput


def options(**texts: str) -> Options:
    """Options of a back end that knows these and 'more'."""
    return Options.of(NodePoolPolicy("gpu-a", options=texts), "scale", (*texts, "more"))


def test_an_option_that_nobody_knows_is_a_mistake() -> None:
    """It is most likely misspelt."""
    with pytest.raises(BadInput, match="'gpu-a', back end scale: there is no option 'nmae'"):
        Options.of(NodePoolPolicy("gpu-a", options={"nmae": "x"}), "scale", ("name",))


def test_options_that_are_there_are_read() -> None:
    """As text, as one of some words, and as numbers."""
    given = options(name="md", word="b", count="3", share="0.5")
    assert "md" == given.text("name", "other") == given.needed("name")
    assert "b" == given.choice("word", ("a", "b"))
    assert 3 == given.whole("count", 1, 1, 3)
    assert 0.5 == given.positive("share", 1.0)


def test_options_that_are_not_there_have_defaults() -> None:
    """Where there is one."""
    none = options()
    assert "other" == none.text("more", "other")
    assert "a" == none.choice("more", ("a", "b"))
    assert 1 == none.whole("more", 1, 1, 3)
    assert 1.5 == none.positive("more", 1.5)
    assert [] == none.tolerations("more")
    with pytest.raises(BadInput, match="option 'more' is missing"):
        none.needed("more")


@pytest.mark.parametrize("text", ["", "four", "4", "0", "1.5"])
def test_a_number_out_of_bounds_is_a_mistake(text: str) -> None:
    """And so is what is no number."""
    with pytest.raises(BadInput, match="not a whole number from 1 to 3"):
        options(count=text).whole("count", 1, 1, 3)


@pytest.mark.parametrize("text", ["", "x", "0", "-1", "nan", "inf"])
def test_a_size_must_be_a_number_above_zero(text: str) -> None:
    """NaN is none."""
    with pytest.raises(BadInput, match="not a number above 0"):
        options(size=text).positive("size", 1.0)


def test_a_word_that_is_not_offered_is_a_mistake() -> None:
    """The message offers the others."""
    with pytest.raises(BadInput, match="option 'word' is 'c', not one of a, b"):
        options(word="c").choice("word", ("a", "b"))


def test_pairs_are_written_with_commas() -> None:
    """A value may hold an equals sign, or be empty."""
    wanted = {"a": "1", "b": "x=y", "c": ""}
    assert wanted == options(labels="a=1, b=x=y,c=").pairs("labels")
    for bad in ("a", "=1", "a=1,,b=2"):
        with pytest.raises(BadInput, match="not like key=value"):
            options(labels=bad).pairs("labels")


def test_tolerations_are_written_as_taints_are() -> None:
    """Without a value any will do, and without an effect every one is meant."""
    assert [
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "team", "operator": "Equal", "value": "ml", "effect": "NoExecute"},
        {"key": "spot", "operator": "Equal", "value": "true"},
        {"key": "any", "operator": "Exists"},
    ] == options(taints="nvidia.com/gpu:NoSchedule, team=ml:NoExecute,spot=true,any").tolerations(
        "taints"
    )
    with pytest.raises(BadInput, match="not like key=value:NoSchedule"):
        options(taints="a:Never").tolerations("taints")
