"""What the scheduler knows and how it decides: plain functions of values. Nothing here touches the world."""
