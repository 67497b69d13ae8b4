import pytest

from dray.demo.words import Words

TEXT = "GPU_0=GPU-abc\nGPU_1=GPU-def\nSHARING=MPS/50%\n"


@pytest.mark.parametrize(
    ("pieces", "want"),
    [
        (["GPU_0="], [True]),
        (["GPU_2="], [False]),
        (["GPU_0=<one>", "GPU_1=<two>"], [True, True]),
        (["GPU_0=<one>", "GPU_1=<one>"], [True, False]),
        (["=<one>", "=<two>", "=<three>", "=<four>"], [True, True, True, False]),
        (["GPU_0=<one>", "<one>"], [True, True]),
        (["GPU_0=GPU-<one>", "GPU_1=<one>"], [True, False]),
        (["MPS/<share>%"], [True]),
        (["<a>=<a>"], [False]),
        (["a.c"], [False]),
    ],
)
def test_blanks_stand_for_one_word_each(pieces: list[str], want: list[bool]) -> None:
    words = Words()
    assert [words.find(piece, TEXT) for piece in pieces] == want


def test_a_known_word_is_not_a_part_of_a_longer_one() -> None:
    words = Words()
    assert words.find("=<one>", "A=GPU-1\n")
    assert not words.find("=<one>", "A=GPU-12\n")


def test_looking_teaches_nothing() -> None:
    words = Words()
    assert words.has("GPU_0=<one>", TEXT)
    assert words.known == {}
