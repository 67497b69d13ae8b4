import msgspec

from dray.api.codec import encode_value
from dray.api.meta import ObjectMeta
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.api.tables import RowContent, TableForm, render_table
from dray.values.times import Time

NOW = Time(1_800_000_000)
CLAIMS = [
    ResourceClaim(metadata=ObjectMeta(name="a", creation_timestamp=NOW.plus_seconds(-90))),
    ResourceClaim(metadata=ObjectMeta(name="b")),
]


def test_a_row_has_a_cell_for_each_column() -> None:
    table = render_table(RESOURCE_CLAIM, CLAIMS, NOW, version="v1")
    assert [column.name for column in table.column_definitions] == ["Name", "State", "Age"]
    assert table.column_definitions[0].format == "name"
    assert [row.cells for row in table.rows] == [("a", "pending", "90s"), ("b", "pending", "<unknown>")]


def test_rows_carry_as_much_of_the_object_as_asked() -> None:
    def objects(content: RowContent) -> list[object]:
        table = render_table(RESOURCE_CLAIM, CLAIMS[1:], NOW, version="v1beta1", form=TableForm(content))
        written = msgspec.json.decode(encode_value(table))
        assert (written["kind"], written["apiVersion"]) == ("Table", "meta.k8s.io/v1")
        return [row["object"] for row in written["rows"]]

    assert objects(RowContent.NONE) == [None]
    assert objects(RowContent.METADATA) == [
        {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": {"name": "b"}}
    ]
    (whole,) = objects(RowContent.OBJECT)
    assert isinstance(whole, dict)
    assert whole["apiVersion"] == "resource.k8s.io/v1beta1"


def test_an_empty_table_has_rows() -> None:
    written = msgspec.json.decode(encode_value(render_table(RESOURCE_CLAIM, [], NOW, version="v1")))
    assert written["rows"] == []
