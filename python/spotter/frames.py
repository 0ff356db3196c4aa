"""Tables as pandas frames, without pyarrow."""

from __future__ import annotations

import numpy
import pandas

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spotter.tables import Field, Table


def _missing(valid: memoryview | None, rows: int) -> numpy.ndarray | None:
    """Which cells are not there; None: all are."""
    if valid is None:
        return None
    return numpy.unpackbits(numpy.asarray(valid), count=rows, bitorder="little") == 0


def column_of(table: Table, place: int, copy: bool, times: bool) -> object:
    """A column as an array that a frame takes."""
    field: Field = table.schema[place]
    rows = len(table)
    memory, valid = table._core.memory(place)
    missing = _missing(valid, rows)
    if field.type == "text":
        codes = numpy.array(memory) if copy else numpy.asarray(memory)
        if missing is not None:
            codes = numpy.where(missing, -1, codes)
        return pandas.Categorical.from_codes(codes, categories=pandas.Index(table._core.words(place), dtype=object))
    if field.type == "flag":
        flags = numpy.unpackbits(numpy.asarray(memory), count=rows, bitorder="little").astype(bool)
        return flags if missing is None else pandas.arrays.BooleanArray(flags, missing)
    values = numpy.asarray(memory)
    if field.type == "real":
        if missing is None:
            return values.copy() if copy else values
        return numpy.where(missing, numpy.nan, values)
    if times and field.unit == "ns":
        kind = "datetime64[ns]" if field.role == "time" else "timedelta64[ns]"
        moments = values.astype(kind)
        if missing is not None:
            moments[missing] = numpy.datetime64("NaT") if field.role == "time" else numpy.timedelta64("NaT")
        return pandas.DatetimeIndex(moments, tz="UTC") if field.role == "time" else moments
    if missing is None:
        return values.copy() if copy else values
    return pandas.arrays.IntegerArray(values.copy(), missing)


def frame_of(table: Table, copy: bool, times: bool) -> pandas.DataFrame:
    columns = {name: column_of(table, place, copy, times) for place, name in enumerate(table.columns)}
    frame = pandas.DataFrame(columns, index=pandas.RangeIndex(len(table)), copy=False)
    frame.attrs["spotter"] = {
        "table": table.name,
        "units": {field.name: field.unit for field in table.schema if field.unit != "none"},
        "notes": [note.text for note in table.notes],
    }
    return frame
