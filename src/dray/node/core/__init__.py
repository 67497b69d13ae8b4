"""Decisions of the node agent: plain functions of values, and the state they are made from."""
