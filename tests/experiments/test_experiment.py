"""How jobs are run: what can be asked for, and what is refused before anything is loaded."""

from __future__ import annotations

import pytest

from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.experiment import How, parse_memory


@pytest.mark.parametrize(
    ("given", "n_bytes"),
    [("4G", 4 * 2**30), ("500M", 500 * 2**20), ("500 mb", 500 * 2**20), ("1.5GiB", 3 * 2**29), (2**30, 2**30)],
)
def test_memory_is_bytes_or_a_number_with_a_unit(given, n_bytes):
    assert parse_memory(given) == n_bytes
    assert How(memory=given).memory_bytes == n_bytes


@pytest.mark.parametrize("given", ["lots", "4X", "-4G", "", "10M", 0, "1e9", "G"])
def test_what_is_no_size_or_too_small_a_one_is_refused(given):
    with pytest.raises(ComparisonError, match="memory must be at least 100M, such as 500M or 4G, got "):
        How(memory=given).check()


def test_where_memory_cannot_be_limited_it_is_said(monkeypatch):
    monkeypatch.setattr("pyod_gessvdd.experiments.experiment._can_limit_memory", lambda: False)
    with pytest.raises(ComparisonError, match="memory can only be limited where the system has RLIMIT_AS"):
        How(memory="4G").check()
