import pytest

from dray.authoring.spelling import find_meant, suggest


@pytest.mark.parametrize(
    ("name", "known", "want"),
    [
        ("resource.kubernbetes.io", ["resource.kubernetes.io"], "resource.kubernetes.io"),
        ("gpu.nvida.com", ["gpu.nvidia.com", "gpu.amd.com"], "gpu.nvidia.com"),
        ("resource.kubernetes.io/PCIeRoot", ["resource.kubernetes.io/pcieRoot"], "resource.kubernetes.io/pcieRoot"),
        ("resource.kubernetes.io/pcie-root", ["resource.kubernetes.io/pcieRoot"], "resource.kubernetes.io/pcieRoot"),
        ("gpu.example.com", ["gpu.example.com", "gpu.exmaple.com"], ""),
        ("npu.example.com", ["gpu.example.com"], ""),
        ("worker-1.example.com", ["worker-2.example.com"], ""),
        ("west.example.com", ["east.example.com"], ""),
        ("gpu.exmaple.org", ["gpu.example.com"], ""),
        ("anything", [], ""),
    ],
)
def test_name_that_is_meant_differs_by_a_slip(name: str, known: list[str], want: str) -> None:
    assert find_meant(name, known) == want


def test_suggestion_goes_further_and_overlooks_case() -> None:
    assert suggest("modell", ["model", "memory"]) == "model"
    assert suggest("PRODUCTNAM", ["productName"]) == "productName"
    assert suggest("xyz", ["model"]) == ""
