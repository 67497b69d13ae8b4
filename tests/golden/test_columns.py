"""The tables of the resource kinds have the columns that Kubernetes prints."""

from typing import Any

import pytest

from dray.api.kind import Kind
from dray.api.resource.kinds import KINDS

AGE = ("Age", "string")
RECORDED = {
    "deviceclasses": [AGE],
    "devicetaintrules": [
        ("Key", "string"),
        ("Value", "string"),
        ("Effect", "string"),
        ("TimeAdded", "string"),
        AGE,
    ],
    "resourceclaims": [("State", "string"), AGE],
    "resourceclaimtemplates": [AGE],
    "resourcepoolstatusrequests": [
        ("Driver", "string"),
        ("Total", "string"),
        ("Available", "string"),
        ("Allocated", "string"),
        ("Unavailable", "string"),
        ("Errors", "string"),
        ("Pools", "integer"),
        ("Status", "string"),
        ("Completed", "string"),
    ],
    "resourceslices": [("Node", "string"), ("Driver", "string"), ("Pool", "string"), AGE],
}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_columns_are_those_of_kubernetes(kind: Kind[Any]) -> None:
    name, *others = kind.columns
    assert (name.name, name.type, name.format) == ("Name", "string", "name")
    assert [(column.name, column.type) for column in others] == RECORDED[kind.plural]
    assert all(column.priority == 0 and column.format == "" for column in others)
    assert all(column.description for column in kind.columns)
