"""A critical path drawn into the document of its trace."""

from __future__ import annotations

from typing import Any, Dict, List, Set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spotter.hta.analyzers.critical_path_analysis import CPEdge, CPGraph


def overlay(content: Dict[str, Any], graph: CPGraph, edges: List[CPEdge], only_critical: bool) -> None:
    """Marks the events of the path, and adds an arrow for each of these edges.

    Args:
        only_critical: leaves out all other events of host and device, but annotations and Python functions.
    """
    events = content["traceEvents"]
    critical = graph.critical_path_events_set
    for number in critical:
        events[number].setdefault("args", {})["critical"] = 1
    arrows = _arrows(events, graph, edges, set(graph._objects(graph._path)))
    if only_critical:
        events = [event for number, event in enumerate(events) if number in critical or _is_context(event)]
    content["traceEvents"] = events + arrows


def _is_context(event: Dict[str, Any]) -> bool:
    return event.get("ph") != "X" or event.get("cat") in ("user_annotation", "python_function")


def _arrows(
    events: List[Dict[str, Any]], graph: CPGraph, edges: List[CPEdge], critical: Set[CPEdge]
) -> List[Dict[str, Any]]:
    """Two flow events for each edge, as a trace file has them."""
    result = []
    for number, edge in enumerate(edges):
        args = {"weight": int(edge.weight), "critical": edge in critical}
        for node, is_start in ((edge.begin, True), (edge.end, False)):
            event = events[graph._ids[graph._nodes.row[node]]]
            at = event["ts"] if graph._nodes.is_start[node] else event["ts"] + event["dur"] - _inset(event)
            result.append(
                graph.t_full.flow_event(
                    number, event["pid"], event["tid"], int(at), is_start, "critical_path", edge.type.value, dict(args)
                )
            )
    return result


def _inset(event: Dict[str, Any]) -> float:
    """An arrow at the end of device work begins a little earlier, so that viewers do not attach it to what follows."""
    return min(1, event["dur"]) if "device" in event.get("args", {}) else 0
