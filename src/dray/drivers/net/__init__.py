"""The network interfaces of this machine: offered as DRANET offers them, and moved into the namespaces of pods."""
