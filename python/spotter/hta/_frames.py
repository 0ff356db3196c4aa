"""The frame that HTA makes of a trace file, made of the columns that Spotter reads."""

from __future__ import annotations

import json
import re
from collections import namedtuple

import numpy
import pandas

from spotter.frames import column_of
from spotter.hta.configs.default_values import AttributeSpec, ValueType
from spotter.hta.configs.env_options import disable_ns_rounding
from spotter.hta.configs.parser_config import ParserConfig
from spotter.traces import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from spotter.hta.common.trace_symbol_table import TraceSymbolTable
    from spotter.traces import Trace

Parsed = namedtuple("Parsed", "frame metadata losses")
Parsed.__doc__ = """A file: a row for each complete event that has a category, indexed by its place in `traceEvents`; the file's other
members; and what is missing of it, in sentences."""

_OWN_COLUMNS = 8  # of Trace.events(), before those of arguments
_COUNTERS = "cuda_profiler_range"
_NUMBER = re.compile(r"-?\d{1,18}")


def parse(path: str, config: ParserConfig, symbols: TraceSymbolTable) -> Parsed:
    """Names and categories become their numbers in `symbols`, to which they are added.

    Raises:
        spotter.Error: the file cannot be read.
    """
    trace = load(path, progress=False)
    events, specs = _asked(trace, config)
    columns = {
        "index": events.rows,
        "cat": events.symbol_ids("category", symbols),
        "name": events.symbol_ids("name", symbols),
        "pid": events.identities("pid"),
        "tid": events.identities("tid"),
        **events.times(trace.base_ns),
        **{spec.name: events.argument(spec) for spec in specs},
    }
    frame = pandas.DataFrame({name: values if name in ("cat", "name") else narrowed(values) for name, values in columns.items()})
    if len(frame) != events.count:
        frame.index = pandas.Index(events.rows)
    return Parsed(frame, trace.metadata, [note.text for note in trace.notes if note.severity == "loss"])


class _Events:
    """The events of a file by columns, and which of them are rows of the frame."""

    def __init__(self, trace: Trace, args: list[str]) -> None:
        self.trace = trace
        self._args = {raw: _OWN_COLUMNS + place for place, raw in enumerate(args)}
        self._table = trace.events(args)
        self.count = len(self._table)
        category = self.text("category")
        is_row = (_codes(self.text("phase"), {"X"})) & (category.codes >= 0) & ~_codes(category, {"Trace"})
        self.rows: numpy.ndarray = numpy.flatnonzero(is_row)

    def _column(self, place: int) -> Any:
        return column_of(self._table, place, False, False)

    def text(self, name: str) -> pandas.Categorical:
        return self._column(self._table.columns.index(name))

    def symbol_ids(self, name: str, symbols: TraceSymbolTable) -> numpy.ndarray:
        texts = self.text(name)
        codes = texts.codes[self.rows]
        used = numpy.unique(codes)
        words = [str(texts.categories[code]) for code in used]
        symbols.add_symbols(words)
        ids = numpy.zeros(len(texts.categories) + 1, dtype=numpy.int64)
        ids[used] = [symbols.sym_index[word] for word in words]
        return ids[codes]

    def identities(self, name: str) -> numpy.ndarray:
        """Of processes and threads: numbers, and texts where some event of the file has one."""
        texts = self.text(name)
        values = [_number_or_text(text) for text in texts.categories]
        if all(isinstance(value, int) for value in values):
            return numpy.array(values, dtype=numpy.int64)[texts.codes[self.rows]]
        return _objects(values)[texts.codes[self.rows]]

    def times(self, begin: int) -> dict[str, numpy.ndarray]:
        """`ts` and `dur` in us; `end` where HTA rounds."""
        start = numpy.asarray(self._column(self._table.columns.index("start_ns"))) - begin
        dur, has_none = _values_and_gaps(self._column(self._table.columns.index("dur_ns")))
        has_fractions = bool((start % 1000 != 0).any())
        start, dur, is_whole = start[self.rows], dur[self.rows], not has_none.any() and not (dur % 1000 != 0).any()
        if not has_fractions:
            return {"ts": start // 1000, "dur": dur // 1000 if is_whole else dur / 1000}
        exact_start, exact_dur = _microseconds(start), _microseconds(dur)
        if disable_ns_rounding():
            return {"ts": exact_start, "dur": exact_dur}
        ts, end = numpy.ceil(exact_start), numpy.floor(exact_start + exact_dur)
        return {"ts": ts.astype(numpy.int64), "dur": end - ts, "end": end}

    def args_of(self, category: str | None = None) -> list[str]:
        """Of the arguments that were asked for those that some row has, or some row of this category."""
        rows = self.rows
        if category is not None:
            rows = rows[_codes(self.text("category"), {category})[rows]]
        return [raw for raw, place in self._args.items() if not _gaps(self._column(place))[rows].all()]

    def argument(self, spec: AttributeSpec) -> numpy.ndarray:
        """Its column: what a row has, else the default."""
        if spec.raw_name not in self._args:
            return _filled(spec, len(self.rows))
        column = self._column(self._args[spec.raw_name])
        if isinstance(column, pandas.Categorical):
            texts = self._decoded(spec.raw_name, column)
            texts = _as_numbers(texts) if spec.value_type in (ValueType.Int, ValueType.Float) else texts
            values, gaps = _objects(texts)[column.codes], column.codes < 0
            if not any(isinstance(text, (str, list, dict)) for text in texts):
                values = numpy.where(gaps, 0, values).astype(type(spec.default_value))
        else:
            values, gaps = _values_and_gaps(column)
        values, gaps = values[self.rows], gaps[self.rows]
        if gaps.any():
            are_numbers = values.dtype.kind in "if" and type(spec.default_value) in (int, float)
            values = values.astype(numpy.result_type(values.dtype, type(spec.default_value)) if are_numbers else object)
            values[gaps] = spec.default_value
        if spec.name == "stream" and values.dtype.kind != "i":
            return pandas.to_numeric(pandas.Series(values), errors="coerce").fillna(-1).astype(numpy.int64).to_numpy()
        return values

    def example(self, raw: str) -> object:
        """The first value of an argument."""
        column = self._column(self._args[raw])
        place = self.rows[~_gaps(column)[self.rows]][0]
        if isinstance(column, pandas.Categorical):
            return self._decoded(raw, column)[column.codes[place]]
        return _values_and_gaps(column)[0][place].item()

    def _decoded(self, raw: str, column: pandas.Categorical) -> list:
        """What stands in the table of a list or an object is its JSON."""
        texts = [str(text) for text in column.categories]
        return [_from_json(text) for text in texts] if raw in self.trace.json_args else texts


def _asked(trace: Trace, config: ParserConfig) -> tuple[_Events, list[AttributeSpec]]:
    """The events, and the columns that the settings ask for, and one for each counter of a profiled range."""
    specs, args, minimum = list(config.get_args()), trace.args, ParserConfig.get_minimum_args()
    if not config.parse_all_args:
        specs += [spec for spec in minimum if spec.name not in {known.name for known in specs}]  # frames are linked by them
        events = _Events(trace, [spec.raw_name for spec in specs if spec.raw_name in args])
        if _COUNTERS not in set(events.text("category").categories):
            return events, specs
    events = _Events(trace, args)
    if config.parse_all_args:
        known = {spec.raw_name: spec for spec in ParserConfig.get_all_available_args().values()}
        found = events.args_of()
        specs = [known.get(raw) or ParserConfig.make_attribute_spec(raw, events.example(raw)) for raw in found]
        specs += [spec for spec in minimum if spec.raw_name not in found]
    named = {spec.raw_name for spec in specs}
    version = minimum[0].min_supported_version
    counters = [raw for raw in events.args_of(_COUNTERS) if raw not in named]
    return events, specs + [AttributeSpec(raw, raw, ValueType.Int, -1, version) for raw in counters]


def _codes(texts: pandas.Categorical, wanted: set[str]) -> numpy.ndarray:
    """Which of them are one of these."""
    places = [place for place, text in enumerate(texts.categories) if text in wanted]
    return numpy.isin(texts.codes, places)


def _values_and_gaps(column: Any) -> tuple[numpy.ndarray, numpy.ndarray]:
    if isinstance(column, (pandas.arrays.IntegerArray, pandas.arrays.BooleanArray)):
        return column.to_numpy(dtype=bool if column.dtype == "boolean" else numpy.int64, na_value=0), numpy.asarray(column.isna())
    return numpy.asarray(column), _gaps(column)


def _gaps(column: Any) -> numpy.ndarray:
    """Where no value is."""
    if isinstance(column, pandas.Categorical):
        return column.codes < 0
    return numpy.asarray(pandas.isna(column))


def _objects(values: list) -> numpy.ndarray:
    """An array of them, and None at last, which is what code -1 finds."""
    array = numpy.empty(len(values) + 1, dtype=object)
    for place, value in enumerate(values):
        array[place] = value
    return array


def _filled(spec: AttributeSpec, count: int) -> numpy.ndarray:
    is_number = isinstance(spec.default_value, (int, float)) and not isinstance(spec.default_value, bool)
    return numpy.full(count, spec.default_value, dtype=type(spec.default_value) if is_number else object)


def _number_or_text(text: str) -> int | str:
    return int(text) if _NUMBER.fullmatch(text) else text


def _as_numbers(texts: list) -> list:
    """Some writers quote numbers."""
    try:
        return [int(text) for text in texts]
    except (TypeError, ValueError):
        return texts


def _from_json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _microseconds(times: numpy.ndarray) -> numpy.ndarray:
    """As JSON's numbers are read: the nearest double."""
    return (times.astype(numpy.longdouble) / 1000).astype(numpy.float64)


def narrowed(values: numpy.ndarray) -> numpy.ndarray:
    """Whole numbers in the smallest type that holds them."""
    return numpy.asarray(pandas.to_numeric(values, downcast="integer")) if values.dtype.kind == "i" else values
