"""The file of a critical path's graph, which `CPGraph.save` writes and `restore_cpgraph` reads."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Dict, Tuple

import numpy as np
import pandas as pd

_FORMAT = 1


def write(path: str, rows: pd.DataFrame, arrays: Dict[str, np.ndarray]) -> None:
    """Folders that are missing are made.

    Args:
        rows: the events that the graph is of, by id.
    """
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("about.json", json.dumps({"format": _FORMAT}))
        archive.writestr("rows.csv", rows.to_csv(index_label="index"))
        with archive.open("graph.npz", "w") as member:
            np.savez(member, **arrays)  # type: ignore[arg-type]


def read(path: str) -> Tuple[pd.DataFrame, Dict[str, np.ndarray]]:
    """Rows and arrays.

    Raises:
        ValueError: it is no such file, or of another format.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            about = json.loads(archive.read("about.json"))
            rows = pd.read_csv(io.BytesIO(archive.read("rows.csv")), index_col="index")
            arrays = dict(np.load(io.BytesIO(archive.read("graph.npz")), allow_pickle=False))
    except (zipfile.BadZipFile, KeyError) as error:
        raise ValueError(f"{path} is no graph that CPGraph.save wrote") from error
    if about["format"] != _FORMAT:
        raise ValueError(f"{path} has format {about['format']}; this version reads {_FORMAT}")
    return rows, arrays
