"""The node agent: from a pod that was bound to a node to containers that hold their devices."""
