"""What HTA answers (shared/golden/hta), what we do, and the rows of each trace for hta_model.py."""

import csv
import functools
import json

import harness
import hta_rank
import references

GOLDEN = harness.SHARED / "golden" / "hta"


def us(ns):
    return None if ns is None else ns / 1000


def all_us(values):
    return tuple(map(us, values))


def number(text):
    return None if text == "" else float(text)


def zero_if_none(value):
    """HTA's deviation of one sample is NaN; ours is 0."""
    return 0 if value is None else value


def golden(trace, name):
    """Rows of a table of HTA; None where it raised."""
    path = GOLDEN / trace / name
    other = GOLDEN / trace / f"{name.removesuffix('.csv')}.json"
    if other.is_file():  # None: nothing there
        return json.loads(other.read_text()) or []
    if not path.is_file():
        assert (GOLDEN / trace / f"{name.split('.csv')[0].removesuffix('.interval_stats')}.error.txt").is_file(), path
        return None
    with open(path, newline="") as file:
        rows = csv.DictReader(file)
        return list(rows) if rows.fieldnames != ["rank"] else []  # a frame without columns: nothing there


def parameters(trace):
    """What HTA was asked for."""
    return json.loads((GOLDEN / trace / "params.json").read_text())


TABLES_ASKED = ("temporal_breakdown", "comm_comp_overlap", "kernel_type_breakdown", "kernel_breakdown",
                "user_annotation_breakdown", "idle_time_breakdown", "idle_interval_statistics", "kernel_launches",
                "queue_length", "memory_bandwidth", "operator_kernels", "steps", "critical_path")


@functools.cache
def answer(trace):
    return harness.analyze(*references.paths(trace), tables=TABLES_ASKED, options=("--compat", "hta"))


@functools.cache
def ranks(trace):
    """{rank: hta_rank.Rank} for the model."""
    kinds = {}
    for row in answer(trace)["kernel_breakdown"]:
        kinds.setdefault(row["name"], row["kind"])
    return {rank: hta_rank.Rank(path, kinds)
            for rank, path in zip(sorted(references.ranks(trace)), references.paths(trace), strict=True)}


def columns(row, *names):
    return tuple(number(row[name]) for name in names)
