from pathlib import Path
from typing import Any

import pytest
import yaml

from dray.client.connection import Connection
from dray.client.incluster import OwnCluster, connect_to_own_cluster
from dray.client.kubeconfig import KubeconfigPlaces, Overrides, load_connection
from dray.client.kubefile import KubeconfigError

CASES: list[dict[str, Any]] = yaml.safe_load(
    Path(__file__).parents[2].joinpath("cases", "client", "kubeconfig.yaml").read_text(encoding="utf-8")
)


def flatten(connection: Connection, folder: Path) -> dict[str, Any]:
    """All parts of a connection by name, with the folder as `$`."""

    def plain(value: object) -> object:
        if isinstance(value, bytes):
            return value.decode()
        if isinstance(value, tuple):
            return [plain(each) for each in value]
        return str(value).replace(str(folder), "$") if isinstance(value, str | Path) else value

    parts = [connection, connection.trust, connection.login]
    found = {name: plain(getattr(part, name)) for part in parts for name in part.__struct_fields__}
    plugin = connection.login.plugin
    if plugin is not None:
        found["plugin"] = {name: plain(getattr(plugin, name)) for name in plugin.__struct_fields__}
    return found


def load(case: dict[str, Any], folder: Path) -> Connection:
    for name, text in case["files"].items():
        folder.joinpath(name).parent.mkdir(parents=True, exist_ok=True)
        folder.joinpath(name).write_text(text, encoding="utf-8")
    given = dict(case["given"])
    own = given.pop("own_cluster", None)
    places = KubeconfigPlaces(
        file=folder / given.pop("file") if "file" in given else None,
        search_path=":".join(str(folder / each) for each in given.pop("search_path", [])),
        home=folder / given.pop("home") if "home" in given else None,
        own_cluster=OwnCluster(own["host"], own["port"], folder / own["account"]) if own else OwnCluster(),
    )
    return load_connection(places, Overrides(**given))


@pytest.mark.parametrize("case", [case for case in CASES if "want" in case], ids=lambda case: case["name"])
def test_connection(case: dict[str, Any], tmp_path: Path) -> None:
    found = flatten(load(case, tmp_path), tmp_path)
    assert {name: found[name] for name in case["want"]} == case["want"]


@pytest.mark.parametrize("case", [case for case in CASES if "error" in case], ids=lambda case: case["name"])
def test_refusal(case: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(KubeconfigError) as caught:
        load(case, tmp_path)
    fault, want = caught.value, case["error"]
    assert fault.place.replace(str(tmp_path), "$") == want.get("place", fault.place.replace(str(tmp_path), "$"))
    assert want.get("hint", "") in fault.hint.replace(str(tmp_path), "$")
    assert want.get("message", "") in str(fault)


def test_a_folder_is_no_kubeconfig(tmp_path: Path) -> None:
    with pytest.raises(KubeconfigError, match="directory"):
        load_connection(KubeconfigPlaces(file=tmp_path))


def test_there_is_no_own_cluster_outside_of_pods(tmp_path: Path) -> None:
    with pytest.raises(KubeconfigError, match="service account"):
        connect_to_own_cluster(OwnCluster("10.0.0.1", "443", tmp_path))
