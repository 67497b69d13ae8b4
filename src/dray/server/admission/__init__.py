"""Admission: what a write is completed with, or refused for, after a look at other objects."""
