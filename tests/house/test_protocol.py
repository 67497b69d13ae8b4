"""What is generated from the `.proto` files is what stands beside them."""

import sys
from subprocess import run

from tools import generate_protocol

MESSAGES = """
from dray.protocol import dra_v1_pb2, dra_v1beta1_pb2, health_v1_pb2, health_v1alpha1_pb2, podresources_v1_pb2
from dray.protocol import registration_v1_pb2
import sys
print("grpc" in sys.modules)
"""


def test_generated_code_is_up_to_date() -> None:
    assert generate_protocol.main(["--check"]) == 0


def test_messages_import_together_and_without_grpc() -> None:
    answer = run([sys.executable, "-W", "error", "-c", MESSAGES], capture_output=True, text=True, check=True)
    assert answer.stdout == "False\n"
