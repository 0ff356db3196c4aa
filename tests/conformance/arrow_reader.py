"""Reads Arrow streams for test_arrow.py, which runs it with the Python of tools/python: for each line of its input, the
path of a file, a line of JSON with the schema as pyarrow has it, and the cells of each column as pyarrow, polars and duckdb have them. A number that is none
is null, as in JSON."""

import json
import math
import sys

import duckdb
import polars
import pyarrow
import pyarrow.ipc


def plain(cells):
    return [None if isinstance(cell, float) and not math.isfinite(cell) else cell for cell in cells]


def text(metadata):
    return {key.decode(): value.decode() for key, value in (metadata or {}).items()}


def schema_of(table):
    return {"metadata": text(table.schema.metadata), "fields": [
        {"name": field.name, "type": str(field.type), "nullable": field.nullable, "metadata": text(field.metadata)} for field in table.schema]}


def by_pyarrow(path):
    table = pyarrow.ipc.open_stream(path).read_all()
    table.validate(full=True)
    return schema_of(table), [plain(column.to_pylist()) for column in table.columns]


def by_polars(path):
    return [plain(column.to_list()) for column in polars.read_ipc_stream(path).get_columns()]


def by_duckdb(path):
    stream = pyarrow.ipc.open_stream(path)  # duckdb takes its batches by the C interface
    columns = len(stream.schema)
    rows = duckdb.sql("select * from stream").fetchall()
    return [plain(row[i] for row in rows) for i in range(columns)]


for line in sys.stdin:
    file = line.removesuffix("\n")
    schema, cells = by_pyarrow(file)
    print(json.dumps({"schema": schema, "pyarrow": cells, "polars": by_polars(file), "duckdb": by_duckdb(file)}), flush=True)
