import json

import pytest
import yaml

from dray.cli.objecttext import ObjectOutput, TableText, render_objects
from dray.client.resources import Resource
from dray.client.untyped import Place, TableAnswer, TableColumn, TableRow, _RowObject

PODS = Resource(group="", version="v1", plural="pods", kind="Pod", singular="pod")
WEB = b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","managedFields":[{}]}}'
COLUMNS = (TableColumn("Name"), TableColumn("Ready"), TableColumn("Node", priority=1))


def row(name: str, *cells: object) -> TableRow:
    return TableRow((name, *cells), _RowObject(Place(name=name, namespace="demo")))


def table(*rows: TableRow) -> TableAnswer:
    return TableAnswer(kind="Table", column_definitions=COLUMNS, rows=rows)


def test_columns_of_lower_priority_are_for_wide_tables() -> None:
    narrow = TableText(table(row("web", True, "a")), is_wide=False, shows_namespace=False)
    wide = TableText(table(row("web", True, "a")), is_wide=True, shows_namespace=False)
    assert (narrow.header(), wide.header()) == ("NAME   READY\n", "NAME   READY   NODE\n")


def test_rows_that_come_later_stay_below_their_headings() -> None:
    text = TableText(table(row("web-server", 1, "a")), is_wide=True, shows_namespace=True)
    assert text.header() == "NAMESPACE   NAME         READY   NODE\n"
    assert text.rows([row("db", None, "line\nline")]) == "demo        db           <none>   line\\nline\n"


def test_names_say_their_kind_where_there_are_several() -> None:
    text = TableText(table(), is_wide=False, shows_namespace=False, prefix="pod/")
    assert text.rows([row("web", "1/1")]) == "pod/web   1/1\n"


@pytest.mark.parametrize(("output", "load"), [(ObjectOutput.JSON, json.loads), (ObjectOutput.YAML, yaml.safe_load)])
def test_one_object_is_itself_and_several_are_a_list(output: ObjectOutput, load: type) -> None:
    web = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}}
    assert load(render_objects([(PODS, WEB)], output)) == web
    for objects in ([(PODS, WEB)] * 2, [(PODS, WEB)], []):
        want = {"apiVersion": "v1", "kind": "List", "items": [web] * len(objects)}
        assert load(render_objects(objects, output, as_list=True)) == want


def test_names_can_be_given_to_other_verbs() -> None:
    assert render_objects([(PODS, WEB)], ObjectOutput.NAME) == "pod/web\n"
