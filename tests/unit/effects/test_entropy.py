import re
from uuid import UUID  # noqa: TID251 - reads a UUID, draws none

import pytest

from dray.effects.entropy import SUFFIX_ALPHABET, Entropy, SeededEntropy, SystemEntropy


@pytest.fixture(params=[SystemEntropy(), SeededEntropy(1)], ids=["system", "seeded"])
def entropy(request: pytest.FixtureRequest) -> Entropy:
    chosen: Entropy = request.param
    return chosen


def test_uid_is_a_random_uuid(entropy: Entropy) -> None:
    assert UUID(entropy.uid()).version == 4
    assert entropy.uid() != entropy.uid()


def test_suffix_has_only_safe_letters(entropy: Entropy) -> None:
    assert re.fullmatch(f"[{SUFFIX_ALPHABET}]{{5}}", entropy.suffix())
    assert len(entropy.suffix(length=8)) == 8


def test_jitter_only_adds_up_to_the_spread(entropy: Entropy) -> None:
    assert 10 <= entropy.jitter(10, spread=0.5) <= 15


def test_same_seed_gives_same_sequence() -> None:
    one, two, other = SeededEntropy(7), SeededEntropy(7), SeededEntropy(8)
    want = (one.uid(), one.suffix(), one.jitter(1))
    assert (two.uid(), two.suffix(), two.jitter(1)) == want
    assert (other.uid(), other.suffix(), other.jitter(1)) != want
