"""Of the same name in HTA."""

__version_tuple__ = (0, 5, 0)
