import pytest

from dray.cli.manifests import Manifest, ManifestError, read_manifests


def test_every_document_is_an_object() -> None:
    assert read_manifests("kind: Pod\n---\nkind: Node\n", "all.yaml") == [
        Manifest("all.yaml", 1, b'{"kind":"Pod"}'),
        Manifest("all.yaml", 3, b'{"kind":"Node"}'),
    ]


def test_json_passes_as_it_is() -> None:
    text = '{"kind": "Pod", "kind": "Pod"}'
    assert read_manifests(text, "pod.json") == [Manifest("pod.json", 1, text.encode())]


def test_a_list_is_its_items() -> None:
    text = "apiVersion: v1\nkind: List\nitems: [{kind: Pod}, {kind: Node}]\n"
    assert [each.json for each in read_manifests(text, "-")] == [b'{"kind":"Pod"}', b'{"kind":"Node"}']


def test_items_of_another_kind_stay_inside() -> None:
    (manifest,) = read_manifests("kind: ConfigMap\nitems: [1]\n", "-")
    assert manifest.json == b'{"kind":"ConfigMap","items":[1]}'


def test_faults_of_form_are_left_to_the_codec() -> None:
    (manifest,) = read_manifests("kind: List\nitems: 1\n", "-")
    assert manifest.json == b'{"kind":"List","items":1}'


@pytest.mark.parametrize("text", ["", "---\n", "# nothing\n", "kind: List\nitems: []\n"])
def test_text_without_objects_is_refused(text: str) -> None:
    with pytest.raises(ManifestError, match=r"empty\.yaml holds no objects"):
        read_manifests(text, "empty.yaml")


@pytest.mark.parametrize(
    ("text", "place"),
    [("a: [\n", "bad.yaml:1:"), ("- 1\n", "bad.yaml:1:"), ("hello", "bad.yaml:1:"), ("{a", "bad.yaml:1:")],
)
def test_what_is_no_object_is_refused_with_its_place(text: str, place: str) -> None:
    with pytest.raises(ManifestError) as refusal:
        read_manifests(text, "bad.yaml")
    assert str(refusal.value).startswith(place)


def test_place_reads_like_an_editor_writes_it() -> None:
    assert Manifest("a.yaml", 3, b"").place == "a.yaml:3"
