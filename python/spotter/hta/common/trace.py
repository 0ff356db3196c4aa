"""`Trace`: the frames of a job, by rank."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterable, List, Optional, Set, Tuple, Union

import numpy
import pandas as pd

from spotter.hta import _engine, _frames
from spotter.hta._engine import Rows
from spotter.hta._links import kept_rows, partners, steps_of
from spotter.hta._rows import ByRank, Handed, handed, rows_left
from spotter.hta.common.trace_df import get_iterations
from spotter.hta.common.trace_file import create_rank_to_trace_dict, get_trace_files  # noqa: F401  (HTA's module has them, too)
from spotter.hta.common.trace_file import files_of, read_trace, write_json
from spotter.hta.common.trace_symbol_table import TraceSymbolTable, decode_symbol_id_to_symbol_name
from spotter.hta.configs.config import logger
from spotter.hta.configs.default_values import DEFAULT_TRACE_DIR
from spotter.hta.configs.parser_config import ParserConfig
from spotter.traces import load

MetaData = Dict[str, Any]

parse_trace_dict = read_trace

PHASE_COUNTER: str = "C"
PHASE_FLOW_START: str = "s"
PHASE_FLOW_END: str = "f"


class Trace:
    """The traces of a job. The frame of a rank is made when it is first asked for, and then is the user's: rows may be dropped and
    columns added, and analyses go on with the rows that are left. Changed times are refused, as no analysis would see them.

    Frames have a row for each complete event that has a category, indexed by its place in `traceEvents`: `index`, `cat` and `name`
    (numbers of the symbol table), `pid`, `tid`, `ts` and `dur` in us (`ts` counts from `min_ts` once it is aligned), the arguments
    that `parser_config` names, `index_correlation` (the row on the other side of a launch; 0: there is none, -1: no correlation),
    `iteration` (of ProfilerStep#N; -1: none) and `end`.

    Attributes: `traces` ({rank: frame}), `trace_files` ({rank: path}), `symbol_table`, `meta_data` ({rank: what else is in the file}),
    `min_ts` (us), `parser_config`, `is_parsed`.
    """

    def __init__(
        self,
        trace_files: Optional[Union[List[str], Dict[int, str]]] = None,
        trace_dir: str = DEFAULT_TRACE_DIR,
        parser_config: Optional[ParserConfig] = None,
    ) -> None:
        self.trace_path: str = os.path.expanduser(os.fspath(trace_dir))
        self.trace_files: Dict[int, str] = files_of(trace_files, self.trace_path)
        self.parser_config = parser_config
        self.is_parsed = False
        self.traces: Dict[int, pd.DataFrame] = {}
        self.meta_data: Dict[int, MetaData] = ByRank(self._metadata_of, list(self.trace_files))
        self._symbols = TraceSymbolTable()
        self._first_us: Dict[int, float] = {}  # of each rank, before it is aligned
        self._folder = os.getcwd()  # of relative paths, whatever becomes the working directory
        self._states: Dict[int, Tuple[int, int, int]] = {}  # of the files when they were named
        self._told: Set[int] = set()  # of whose damage the log has been told
        self._aligned_ranks: List[int] = []
        self._min_ts: Optional[float] = None  # what `ts` counts from, once that is known
        self._rows = Rows.all
        self._shortens: Optional[bool] = None  # names that are added; None: no names are
        self._handed: Dict[int, Handed] = {}

    def load_traces(
        self,
        include_last_profiler_step: Optional[bool] = False,
        use_multiprocessing: bool = True,
        use_memory_profiling: bool = True,
    ) -> None:
        """`parse_traces()` and `align_and_filter_trace()`. Of the last two nothing depends on the last two parameters: files are
        read when they are needed."""
        if self.is_parsed:
            logger.warning("the traces are loaded already")
            return
        self.parse_traces(use_multiprocessing=use_multiprocessing, use_memory_profiling=use_memory_profiling)
        self.align_and_filter_trace(include_last_profiler_step)

    def parse_traces(
        self, max_ranks: int = -1, use_multiprocessing: bool = True, use_memory_profiling: bool = True
    ) -> None:
        """Makes the frames of the ranks, or of the first `max_ranks`, available.

        Raises:
            ValueError: a file is not there, or cannot be read.
        """
        ranks = sorted(self.trace_files)
        self.parse_multiple_ranks(ranks if max_ranks < 0 else ranks[:max_ranks], use_multiprocessing, use_memory_profiling)

    def parse_multiple_ranks(
        self, ranks: List[int], use_multiprocessing: bool = True, use_memory_profiling: bool = True
    ) -> None:
        """As `parse_traces()`, of these ranks."""
        if ranks or not self.trace_files:
            self._check_files(ranks)
        self._rows, self._handed, self._shortens, self._min_ts = Rows.all, {}, None, None
        self.traces = ByRank(self._frame_of, list(ranks))
        self.is_parsed = True

    def parse_single_rank(self, rank: int) -> None:
        """Reads one rank now."""
        self._check_files([rank])
        if not isinstance(self.traces, ByRank):
            self.traces = ByRank(self._frame_of, [])
        self.traces[rank] = self._frame_of(rank)
        self.is_parsed = True

    def align_and_filter_trace(self, include_last_profiler_step: Optional[bool] = False) -> None:
        """`ts` counts from the job's first event. Where a rank has two steps or more, what begins on the host with the last step or
        later is left out, and device work that no row on the host launched; rows of the device then come first."""
        if self._rows != Rows.all:
            return
        frames = {rank: self._held(rank) for rank in self.traces}
        edited = {rank: self._edited(rank) is not None for rank, frame in frames.items() if frame is not None}
        self._rows = Rows.kept_with_last_step if include_last_profiler_step else Rows.kept
        self._aligned_ranks = list(self.traces)
        for rank in edited:
            self.traces[rank] = self._handed_out(rank, self._aligned(frames[rank]), is_usual=not edited[rank])

    @property
    def symbol_table(self) -> TraceSymbolTable:
        """Of all ranks, which are read for it."""
        for rank in self.traces:
            self.traces[rank]
        return self._symbols

    @symbol_table.setter
    def symbol_table(self, table: TraceSymbolTable) -> None:
        self._symbols = table

    def symbols_of(self, rank: int) -> TraceSymbolTable:
        """The same table, of which no more is sure than that it has the symbols of this rank."""
        self.get_trace(rank)
        return self._symbols

    @property
    def min_ts(self) -> Any:
        """The job's first event, in us of the files' clock; 0 before the traces are aligned."""
        begin = self._begin() if self._rows != Rows.all else 0
        return numpy.int64(begin) if begin == int(begin) else numpy.float64(begin)

    def get_ranks(self) -> List[int]:
        return sorted(self.traces)

    def get_iterations(self, rank: Optional[int] = None) -> List[int]:
        """Numbers of the steps of a rank; None: of the first."""
        return get_iterations(self.get_trace(self._or_first(rank)))

    def get_trace_duration(self, rank: Optional[int] = None) -> int:
        """From the first start to the last, in us."""
        ts = self.get_trace(self._or_first(rank))["ts"]
        return ts.max() - ts.min()

    def get_trace(self, rank: int) -> pd.DataFrame:
        """
        Raises:
            ValueError: there is no such rank.
        """
        self._check_rank(rank)
        return self.traces[rank]

    def get_all_traces(self) -> Dict[int, pd.DataFrame]:
        return self.traces

    def get_raw_trace_for_one_rank(self, rank: int = 0) -> Dict[str, Any]:
        """The file as it is: `["traceEvents"][i]` is the row with index i."""
        if rank not in self.trace_files:
            raise ValueError(f"no trace file of rank {rank} is known")
        return read_trace(self._path(rank))

    def write_raw_trace(self, output_file: str, trace_contents: Dict[str, Any]) -> None:
        """Compressed, whatever the file is called; whole or not at all."""
        write_json(trace_contents, output_file, compressed=True)

    def decode_symbol_ids(self, use_shorten_name: bool = True) -> None:
        """Adds `s_name` and `s_cat` to the frames; `use_shorten_name`: without template and other arguments."""
        self._shortens = use_shorten_name
        for rank in self.traces:
            frame = self._held(rank)
            if frame is not None:
                decode_symbol_id_to_symbol_name(frame, self._symbols, use_shorten_name)

    def convert_time_series_to_events(
        self, series: pd.DataFrame, counter_name: str, counter_col: str
    ) -> List[Dict[str, Any]]:
        """Counter events, as a trace file has them, of a frame with `pid`, `ts` in us after `min_ts`, and the column `counter_col`. They
        are called as the column `name` says, else as the counter."""
        ts = series["ts"] + self.min_ts
        names = series["name"] if "name" in series.columns else [counter_name] * len(series)
        return [
            {"pid": pid, "ts": at, "args": {counter_name: value}, "ph": PHASE_COUNTER, "name": name}
            for pid, at, value, name in zip(series["pid"].tolist(), ts.tolist(), series[counter_col].tolist(), names)
        ]

    @staticmethod
    def flow_event(
        id: int,
        pid: int,
        tid: int,
        ts: int,
        is_start: bool,
        name: str,
        cat: str,
        args: Optional[Dict[str, Any]] = None,
    ) -> Dict[str, Any]:
        """One end of an arrow, as a trace file has it."""
        event: Dict[str, Any] = {
            "ph": PHASE_FLOW_START if is_start else PHASE_FLOW_END,
            "id": id, "pid": pid, "tid": tid, "ts": ts, "cat": cat, "name": name,
        }  # fmt: skip
        if args is not None:
            event["args"] = args
        if not is_start:
            event["bp"] = "e"
        return event

    def get_trace_start_unixtime_ns(self, rank: int) -> int:
        """
        Raises:
            KeyError: the file does not say when its times count from.
        """
        return trace_event_timestamp_to_unixtime_ns(float(self.min_ts), self.meta_data[rank])

    def chosen(self, ranks: Optional[Iterable[int]]) -> List[int]:
        """What a parameter `ranks` means: None and none are rank 0, or the first where there is no 0.

        Raises:
            ValueError: one of them is not loaded.
        """
        if isinstance(ranks, (int, numpy.integer)):
            ranks = [ranks]
        chosen = [int(rank) for rank in ranks] if ranks is not None else []
        for rank in chosen:
            self._check_rank(rank)
        return chosen or [0 if 0 in self.traces else self._or_first(None)]

    def rows_to_analyse(self, rank: int) -> _engine.File:
        """For the analyses, which read files."""
        self._check_rank(rank)
        left = self._edited(rank)
        if left is None:
            return _engine.File(self._path(rank), rank, self._rows, b"")
        return _engine.File(self._path(rank), rank, Rows.these, left.tobytes())

    def know(self, facts: Dict[int, _engine.Facts]) -> None:
        """What an analysis has seen of the files. What they have lost goes to the log, once."""
        for rank, of in facts.items():
            self._first_us[rank] = int(of.first_us) if of.first_us.is_integer() else of.first_us
        for rank, of in facts.items():
            self._tell(rank, of.losses)

    def _tell(self, rank: int, losses: List[str]) -> None:
        if rank not in self._told:
            self._told.add(rank)
            for loss in losses:
                logger.warning("rank %d is not whole: %s", rank, loss)

    def _path(self, rank: int) -> str:
        """Of the file that it was when it was named.

        Raises:
            ValueError: it is another one now, or gone.
        """
        path = os.path.join(self._folder, self.trace_files[rank])
        try:
            state = _state_of(path)
        except OSError as error:
            raise ValueError(f"the trace file of rank {rank}, which is read when it is needed, is no longer there: {error}") from None
        if self._states.setdefault(rank, state) != state:
            raise ValueError(f"the trace file of rank {rank} is not the one that was opened: {path}; make a new object for it")
        return path

    def _check_rank(self, rank: int) -> None:
        if rank not in self.traces:
            known = ", ".join(map(str, self.get_ranks())) or "(none)"
            raise ValueError(f"no trace of rank {rank} is loaded; there are ranks {known}")

    def _check_files(self, ranks: List[int]) -> None:
        if not ranks:
            raise ValueError(f"there are no trace files (.json, .json.gz) in {self.trace_path}: name a folder that has some, or the files")
        for rank in ranks:
            if rank not in self.trace_files:
                raise ValueError(f"no trace file of rank {rank} is known; there are those of ranks {sorted(self.trace_files)}")
            path = os.path.join(self._folder, self.trace_files[rank])
            if not os.path.isfile(path) or not os.access(path, os.R_OK):
                raise ValueError(f"the trace file of rank {rank} cannot be read: {path}")
            self._states[rank] = _state_of(path)

    def _or_first(self, rank: Optional[int]) -> int:
        if rank is None and not self.traces:
            raise ValueError("no trace is loaded")
        return self.get_ranks()[0] if rank is None else rank

    def _held(self, rank: int) -> Optional[pd.DataFrame]:
        return self.traces.held(rank) if isinstance(self.traces, ByRank) else self.traces[rank]

    def _edited(self, rank: int) -> Optional[numpy.ndarray]:
        frame = self._held(rank)
        return None if frame is None else rows_left(rank, frame, self._handed.get(rank))

    def _config(self) -> ParserConfig:
        return self.parser_config or ParserConfig.get_default_cfg()

    def _metadata_of(self, rank: int) -> MetaData:
        return load(self._path(rank), progress=False).metadata

    def _frame_of(self, rank: int) -> pd.DataFrame:
        parsed = _frames.parse(self._path(rank), self._config(), self._symbols)
        self.meta_data[rank] = parsed.metadata
        self._tell(rank, parsed.losses)
        frame = parsed.frame
        self._first_us[rank] = frame["ts"].min() if len(frame) else 0
        frame = _linked(frame, self._symbols)
        if self._rows != Rows.all:
            frame = self._aligned(frame)
        if self._shortens is not None:
            decode_symbol_id_to_symbol_name(frame, self._symbols, self._shortens)
        return self._handed_out(rank, frame, is_usual=True)

    def _handed_out(self, rank: int, frame: pd.DataFrame, is_usual: bool) -> pd.DataFrame:
        self._handed[rank] = handed(frame, is_usual)
        return frame

    def _begin(self) -> float:
        """Of the ranks that were there when they were aligned: it stays, whatever becomes of them."""
        if self._min_ts is None:
            unknown = [rank for rank in self._aligned_ranks if rank not in self._first_us]
            self.know(_engine.run([_engine.File(self._path(rank), rank, Rows.all, b"") for rank in unknown], [], {})[1])
            self._min_ts = min((self._first_us[rank] for rank in self._aligned_ranks), default=0)
        return self._min_ts

    def _aligned(self, frame: pd.DataFrame) -> pd.DataFrame:
        begin = self._begin()
        frame = frame.assign(ts=frame["ts"] - begin, end=frame["end"] - begin)
        return kept_rows(frame, self._symbols, with_last_step=self._rows == Rows.kept_with_last_step)


def parse_trace_file(
    trace_file_path: str, cfg: Optional[ParserConfig] = None
) -> Tuple[MetaData, pd.DataFrame, TraceSymbolTable]:
    """What else is in the file, its frame, and the symbols of that."""
    symbols = TraceSymbolTable()
    parsed = _frames.parse(trace_file_path, cfg or ParserConfig.get_default_cfg(), symbols)
    return parsed.metadata, _linked(parsed.frame, symbols), symbols


def transform_correlation_to_index(df: pd.DataFrame, symbol_table: TraceSymbolTable) -> pd.DataFrame:
    """Adds `index_correlation`: of device work the row of its launch, of a launch the row of its last device work; 0 where there is
    none, -1 where the row has no correlation. Needs `index`, `name`, `correlation` and `stream`."""
    df["index_correlation"] = _frames.narrowed(partners(df, symbol_table))
    return df


def add_iteration(df: pd.DataFrame, symbol_table: TraceSymbolTable) -> pd.DataFrame:
    """Adds `iteration`: rows on the host are in the step during which they start, device work in that of its launch; -1: in none.
    What has stream 0 is in no step that HTA knows, and has NaN."""
    df["iteration"] = _frames.narrowed(steps_of(df, symbol_table))
    return df


def add_fwd_bwd_links(df: pd.DataFrame) -> None:
    raise NotImplementedError("frames have no rows of arrows; spotter.load(path).events() has them: phase s and f, category fwdbwd")


def get_cpu_gpu_correlation(df: pd.DataFrame) -> pd.DataFrame:
    """`gpu_index` and `cpu_index` of device work that has a launch."""
    work = df[(df["stream"] >= 0) & (df["index_correlation"] > 0)]
    return pd.DataFrame({"gpu_index": work["index"], "cpu_index": work["index_correlation"]}).reset_index(drop=True)


def trace_event_timestamp_to_unixtime_ns(trace_event_ts_us: float, trace_metadata: MetaData) -> int:
    """
    Raises:
        KeyError: the metadata has no baseTimeNanoseconds.
    """
    if "baseTimeNanoseconds" not in trace_metadata:
        raise KeyError("the trace does not say when its times count from: it has no baseTimeNanoseconds")
    return int(trace_event_ts_us * 1000) + int(trace_metadata["baseTimeNanoseconds"])


def _linked(frame: pd.DataFrame, symbols: TraceSymbolTable) -> pd.DataFrame:
    frame = add_iteration(transform_correlation_to_index(frame, symbols), symbols)
    if "end" not in frame.columns:
        frame["end"] = frame["ts"] + frame["dur"]
    return frame


def _state_of(path: str) -> Tuple[int, int, int]:
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns, found.st_ino
