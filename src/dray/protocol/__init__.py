"""The kubelet's protocols: `.proto` files and the code generated from them.

A driver registers itself (`registration_v1`), prepares claims (`dra_v1`, `dra_v1beta1`) and reports how devices fare
(`health_v1`, `health_v1alpha1`); the kubelet tells who holds what (`podresources_v1`). `X.proto` makes `X_pb2`, the
messages, and `X_pb2_grpc`, stubs and servicers, which alone import grpc. Change the `.proto`, then run
`tools/generate_protocol.py`.

Kubernetes calls each of these files `api.proto`; protobuf keeps one table of file names a process, so each has its own.
"""
