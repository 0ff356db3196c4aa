"""Of the same name in HTA."""
