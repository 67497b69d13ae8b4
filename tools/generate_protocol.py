"""Write `src/dray/protocol/*_pb2*.py` and their types from the `.proto` files beside them.

`--check` writes nothing and answers 1 if something would change.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc  # type: ignore[import-untyped]  # it has no types

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src"
PROTOCOL = SOURCES / "dray" / "protocol"
GENERATED = ("*_pb2.py", "*_pb2.pyi", "*_pb2_grpc.py", "*_pb2_grpc.pyi")


def generate(target: Path) -> None:
    """Generate for every `.proto` file, under `target/dray/protocol`."""
    protos = [str(path) for path in sorted(PROTOCOL.glob("*.proto"))]
    plugins = Path(sys.executable).parent
    arguments = [
        "protoc",
        f"--plugin=protoc-gen-mypy={plugins / 'protoc-gen-mypy'}",
        f"--plugin=protoc-gen-mypy_grpc={plugins / 'protoc-gen-mypy_grpc'}",
        f"-I{SOURCES}",
        f"-I{files('grpc_tools') / '_proto'}",
        f"--python_out={target}",
        f"--grpc_python_out={target}",
        f"--mypy_out=quiet:{target}",
        f"--mypy_grpc_out=quiet:{target}",
        *protos,
    ]
    if status := protoc.main(arguments):
        raise SystemExit(status)


def generated(folder: Path) -> dict[str, str]:
    """Text of the generated files in `folder`, by name."""
    return {path.name: path.read_text() for pattern in GENERATED for path in sorted(folder.glob(pattern))}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether something would change")
    options = parser.parse_args(arguments)
    present = generated(PROTOCOL)
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder))
        wanted = generated(Path(folder) / "dray" / "protocol")
    differing = sorted(name for name in present.keys() | wanted.keys() if present.get(name) != wanted.get(name))
    if options.check:
        print("\n".join(f"{name} differs from its .proto file" for name in differing) or "nothing differs")
        return 1 if differing else 0
    for name in differing:
        if name in wanted:
            (PROTOCOL / name).write_text(wanted[name])
        else:
            (PROTOCOL / name).unlink()
    print(f"{len(differing)} of {len(wanted)} files written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
