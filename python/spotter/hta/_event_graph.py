"""The graph of a critical path as networkx has it, made of arrays when networkx looks."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Dict, List, Set, Tuple

import numpy as np

from spotter.hta._critical_path import Edges, Nodes, counted

try:
    import networkx as nx
except ImportError as error:
    raise ImportError("the graph of a critical path needs networkx: pip install spotter-trace[hta]") from error


def _filled_on_use(*names: str) -> property:
    """Of the dicts that networkx keeps: they are made of the arrays when one of them is first asked for."""

    def get(graph: EventGraph) -> Any:
        if names[0] not in graph.__dict__:
            graph._fill()
        return graph.__dict__[names[0]]

    def put(graph: EventGraph, value: Any) -> None:
        graph.__dict__.update(dict.fromkeys(names, value))

    return property(get, put)


class EventGraph(nx.DiGraph):
    """Nodes are the starts and ends of events. An edge has `weight` and `object`: an `_edge_class(begin, end, weight, type)` with one of
    `_edge_types`, which stand in the order of the kinds of `Edges`."""

    _edge_class: Any
    _edge_types: List[Any]

    _node = _filled_on_use("_node")
    _adj = _succ = _filled_on_use("_adj", "_succ")
    _pred = _filled_on_use("_pred")

    def __init__(self, G: Any = None) -> None:
        super().__init__(G)
        self._ids = np.array([], np.int64)
        self._nodes: Nodes = Nodes(*np.zeros((6, 0), np.int64))
        self._found = self._path = Edges(*np.zeros((5, 0), np.int64))
        self.critical_path_nodes: List[int] = []

    def _take(self, edges: Edges) -> None:
        """The graph becomes one of these edges, once networkx wants it."""
        self._found = edges
        for name in ("_node", "_adj", "_succ", "_pred"):
            self.__dict__.pop(name, None)

    def _fill(self) -> None:
        edges = self._found
        nodes: Dict[int, Dict[str, Any]] = {node: {} for node in self._linked_nodes()}
        successors: Dict[int, Dict[int, Any]] = {node: {} for node in nodes}
        predecessors: Dict[int, Dict[int, Any]] = {node: {} for node in nodes}
        for edge, weight in zip(self._objects(edges), counted(edges.weight).tolist()):
            data = {"weight": weight, "object": edge}
            successors[edge.begin][edge.end] = predecessors[edge.end][edge.begin] = data
        self.__dict__.update(_node=nodes, _adj=successors, _succ=successors, _pred=predecessors)

    def _is_filled(self) -> bool:
        return "_adj" in self.__dict__

    def _links(self) -> Tuple[Edges, np.ndarray]:
        """The edges as they are now, in the order in which they were found, and their weights."""
        if not self._is_filled():
            return self._found, counted(self._found.weight)
        data = {(begin, end): data for begin, end, data in self.edges(data=True)}
        found = [pair for pair in zip(self._found.begin.tolist(), self._found.end.tolist()) if pair in data]
        pairs = list(dict.fromkeys([*found, *data]))
        row_of = {event: row for row, event in enumerate(self._ids.tolist())}
        rows = [row_of.get(self.edge_to_event_map.get(pair, -1), -1) for pair in pairs]
        objects = [data[pair]["object"] for pair in pairs]
        edges = Edges(
            np.array([begin for begin, _ in pairs], np.int64),
            np.array([end for _, end in pairs], np.int64),
            np.array([edge.weight for edge in objects], float),
            np.array([self._edge_types.index(edge.type) for edge in objects], np.int64),
            np.array(rows, np.int64),
        )
        return edges, np.array([data[pair]["weight"] for pair in pairs], float)

    def _linked_nodes(self) -> List[int]:
        """Those with edges, as they come in these."""
        ends = np.stack([self._found.begin, self._found.end], axis=1).ravel()
        distinct, first = np.unique(ends, return_index=True)
        return distinct[np.argsort(first, kind="stable")].tolist()

    def _objects(self, edges: Edges) -> List[Any]:
        columns = zip(*(column.tolist() for column in edges[:4]))
        return [self._edge_class(begin, end, weight, self._edge_types[kind]) for begin, end, weight, kind in columns]

    @cached_property
    def event_to_start_node_map(self) -> Dict[int, int]:
        return self._by_event(self._nodes.is_start)

    @cached_property
    def event_to_end_node_map(self) -> Dict[int, int]:
        return self._by_event(~self._nodes.is_start)

    @cached_property
    def edge_to_event_map(self) -> Dict[Tuple[int, int], int]:
        begin, end, _, _, row = (column[self._found.event >= 0] for column in self._found)
        return dict(zip(zip(begin.tolist(), end.tolist()), self._ids[row].tolist()))

    @cached_property
    def critical_path_events_set(self) -> Set[int]:
        return set(self._ids[self._nodes.row[self.critical_path_nodes]].tolist())

    @cached_property
    def critical_path_edges_set(self) -> Set[Any]:
        return set(self._objects(self._path))

    def _by_event(self, is_asked: np.ndarray) -> Dict[int, int]:
        nodes = np.flatnonzero(is_asked)
        return dict(zip(self._ids[self._nodes.row[nodes]].tolist(), nodes.tolist()))
