"""PyTorch's execution traces (of Chakra and PARAM): the operators of a process with their inputs, without times. Joined to a
trace of the same run, each of its operators knows its node."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from spotter.hta.common.trace import Trace
from spotter.hta._rows import by_id
from spotter.hta.common.trace_file import open_text
from spotter.hta.configs.config import logger
from spotter.hta.utils.utils import normalize_path
from spotter.traces import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

EXECUTION_TRACE_SUPPORTED_EVENTS: list[str] = ["cpu_op", "user_annotation"]
"""Categories of events that have a node."""
IMPORT_EXECUTION_TRACE_SUCCESSFULLY: bool = True

_RECORD_FUNCTION = "Record function id"
_FLAT = ("fw_parent", "seq_id", "scope", "tid", "fw_tid", "op_schema")


class Node:
    """An operator or an annotation.

    Attributes: `id`, `name`, `parent_id`, `inputs`, `input_shapes`, `input_types`, `outputs`, `output_shapes`,
    `output_types`, `rf_id` (0: none), and `fw_parent`, `seq_id`, `scope`, `tid`, `fw_tid`, `op_schema` (None where the file
    has none).
    """

    def __init__(self, record: dict[str, Any]) -> None:
        """Of schema 1.0.1, where all of these stand side by side, or of a later one."""
        self.id: int = record["id"]
        self.name: str = record["name"]
        self.parent_id: int | None = record.get("ctrl_deps", record.get("parent"))
        attributes = {attribute["name"]: attribute["value"] for attribute in record.get("attrs", ())} or record
        self.rf_id: int = attributes.get("rf_id", 0)
        self.fw_parent, self.seq_id, self.scope, self.tid, self.fw_tid, self.op_schema = map(attributes.get, _FLAT)
        self.inputs, self.input_shapes, self.input_types = _values(record, "input")
        self.outputs, self.output_shapes, self.output_types = _values(record, "output")

    def is_root(self) -> bool:
        """Whether it is no operator, but the process or a thread of it."""
        return self.name.startswith("[pytorch|profiler|execution_") and self.name.endswith(("|process]", "|thread]"))


class ExecutionTrace:
    """The `nodes` of a process, by id, and the `schema` of the file."""

    def __init__(self, json: dict[str, Any]) -> None:
        """Args: json: the file's content.

        Raises:
            ValueError: it is no execution trace.
        """
        try:
            self.schema: str = json["schema"]
            self.nodes: dict[int, Node] = {record["id"]: Node(record) for record in json["nodes"]}
        except (KeyError, TypeError) as error:
            raise ValueError(f"no execution trace of PyTorch: it has no {error}") from None

    def get_nodes(self) -> dict[int, Node]:
        """The nodes by id."""
        return self.nodes


def load_execution_trace(et_file: str) -> ExecutionTrace:
    """Reads a file, compressed if its name ends in gz.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no execution trace.
    """
    path = normalize_path(et_file)
    with open_text(path) as file:
        return ExecutionTrace(json.load(file))


def correlate_execution_trace(trace: Trace, rank: int, et: ExecutionTrace) -> None:
    """Adds the column `et_node` to a rank's frame: the id of an operator's or annotation's node, NaN where there is none.

    A node is found by the event's "Record function id" where the file has those, else by its "External id". If the events'
    numbers end before the nodes' do, the two are not of one run: an error is logged and the frame stays as it is.

    Raises:
        ValueError: the rank is not loaded.
    """
    frame = trace.get_trace(rank)
    ids = pd.Series(_record_functions(trace, rank, frame), index=frame.index)
    nodes = {node.rf_id: node for node in et.nodes.values() if node.rf_id > 0 and not node.is_root()}
    if not nodes or ids.max() < max(nodes):
        logger.error("rank %s and the execution trace are not of one run: events have numbers up to %s, nodes up to %s",
                     rank, ids.max(), max(nodes, default=0))  # fmt: skip
        return
    symbols = trace.symbols_of(rank).get_sym_index()
    categories = [symbols[category] for category in EXECUTION_TRACE_SUPPORTED_EVENTS if category in symbols]
    found = ids.where(frame["cat"].isin(categories)).map({number: float(node.id) for number, node in nodes.items()})
    names = ids.map({number: symbols.get(node.name, -1) for number, node in nodes.items()})
    equal, all_found = int((names == frame["name"])[found.notna()].sum()), int(found.notna().sum())
    if 2 * equal < all_found:
        logger.warning("rank %s: only %s of %s events have the names of their nodes: is it the execution trace of this run?",
                       rank, equal, all_found)  # fmt: skip
    frame["et_node"] = found


def add_et_column(trace_df: pd.DataFrame, et: ExecutionTrace, column: str) -> None:
    """Adds a column to a frame that has `et_node`: a property of each event's node, NaN where there is none.

    Args:
        column: `op_schema`, `input_shapes`, `input_types`, `output_shapes`, `output_types`, or `et_node_name`.

    Raises:
        KeyError: another column.
    """
    if "et_node" not in trace_df:
        logger.error("%s needs the column et_node: call correlate_execution_trace() first", column)
        return
    if column not in _COLUMNS:
        raise KeyError(f"{column}: there are {', '.join(_COLUMNS)}")
    value_of = _COLUMNS[column]
    nodes = trace_df["et_node"].dropna().astype("int64")
    values = np.full(len(trace_df), np.nan, dtype=object)
    for place, node in zip(np.flatnonzero(trace_df["et_node"].notna()), nodes):
        values[place] = value_of(et.nodes[node])
    trace_df[column] = values


_COLUMNS: dict[str, Callable[[Node], Any]] = {
    "op_schema": lambda node: node.op_schema,
    "input_shapes": lambda node: node.input_shapes,
    "input_types": lambda node: node.input_types,
    "output_shapes": lambda node: node.output_shapes,
    "output_types": lambda node: node.output_types,
    "et_node_name": lambda node: node.name,
}


def _values(record: dict[str, Any], what: str) -> tuple[Any, Any, Any]:
    """The values, shapes and types of inputs or outputs."""
    values = record.get(f"{what}s")
    if isinstance(values, dict):
        return values.get("values"), values.get("shapes"), values.get("types")
    return values, record.get(f"{what}_shapes"), record.get(f"{what}_types")


def _record_functions(trace: Trace, rank: int, frame: pd.DataFrame) -> np.ndarray:
    """Of each row the number by which execution traces know it; -1: none."""
    if "record_function_id" in frame:
        return frame["record_function_id"].to_numpy()
    if rank in trace.trace_files:
        file = load(trace.trace_files[rank], progress=False)
        if _RECORD_FUNCTION in file.args:
            ids = file.events([_RECORD_FUNCTION]).to_pandas()[_RECORD_FUNCTION]
            return ids.reindex(by_id(frame).index).fillna(-1).to_numpy(dtype="int64")
    return frame["external_id"].to_numpy()
