"""Figures: how fast dray is. Time limits live here alone, never in a test."""
