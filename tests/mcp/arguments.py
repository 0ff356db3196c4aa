"""What each tool can be called with: the least, and all at once. A new argument of a tool has to be named here, too."""

# Tools that say something of folders of traces, without an agent.
OF_FOLDERS = ("overview", "why_slow", "query_table", "compare", "describe")
OF_AGENTS = ("list_incidents", "get_incident", "query_metrics")
ROWS = {"limit": 200, "detail": "more"}


def least(capture, other):
    return {
        "overview": {}, "why_slow": {"capture": capture}, "query_table": {"capture": capture, "table": "steps"},
        "compare": {"before": other, "after": capture}, "describe": {"name": "findings"},
        "list_incidents": {}, "get_incident": {"id": "no-such"}, "query_metrics": {"metric": "cpu_user_ns"},
    }


def most(capture, other, job):
    """Lists are arrays here."""
    return {
        "overview": ROWS, "why_slow": {"job": job} | ROWS,
        "query_table": {"capture": capture, "table": "kernel_breakdown", "columns": ["rank", "name", "sum_ns"], "where": "rank=0-2 and sum_ns>0",
                        "sort": "-sum_ns"} | ROWS,
        "compare": {"before": other, "after": capture, "what": "kernels"} | ROWS, "describe": {"name": "findings"} | ROWS,
        "list_incidents": {"job": job, "state": "open", "since": "7d"} | ROWS, "get_incident": {"id": "no-such", "detail": "more"},
        "query_metrics": {"metric": ["cpu_*", "mem*"], "since": "1h", "step": "1m", "job": job, "host": "*", "rank": 0, "agg": "p95"} | ROWS,
    }


def known_to(tool, arguments):
    """Without what that tool has no argument for, of those that all may have."""
    known = tool["inputSchema"].get("properties", {})
    return {name: value for name, value in arguments.items() if name in known or name not in ROWS}
