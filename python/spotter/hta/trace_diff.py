"""Two traces side by side: how often each operator and kernel ran, and for how long."""

from __future__ import annotations

import copy
import os
import random
import re
from enum import Enum
from typing import Optional, Union

import pandas as pd

from spotter.hta._figures import graph_objects
from spotter.hta.common.trace import Trace
from spotter.hta.configs.config import logger
from spotter.hta.utils.utils import shorten_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Chosen = Optional[Union[int, "list[int]"]]
TraceDir = str

_STEP = re.compile(r"ProfilerStep\s*#\s*(\d+)$")
_SUMMARY = ["cat", "name", "short_name", "counts", "total_duration", "cat_id", "name_id"]
_SUMS = ["counts", "total_duration"]


class DeviceType(Enum):
    """Whose events: the host's, the device's (those on a stream), or both."""

    CPU = 1
    GPU = 2
    ALL = 3


class LabeledTrace:
    """A trace under a name, with times as in its files and with its last step."""

    def __init__(self, label: str | None = None, t: Trace | None = None, trace_dir: str | None = None) -> None:
        """Args:
            label: what columns and figures call it; None: `t` and a digit.
            t: used as it is; parsed if it is not yet.
            trace_dir: a folder of traces, where no `t` is given.

        Raises:
            ValueError: neither a trace nor an existing folder.
        """
        self.label = f"t{random.randrange(10)}" if label is None else label
        if t is None:
            if trace_dir is None or not os.path.isdir(trace_dir):
                raise ValueError(f"a trace or a folder of traces is needed: trace_dir={trace_dir!r} is no folder")
            t = Trace(trace_dir=trace_dir)
        if not t.is_parsed:
            t.parse_traces()
        self.t = t

    @property
    def s_map(self) -> pd.Series:
        """Of each symbol its id."""
        return self.t.symbol_table.get_sym_index_series()

    @property
    def s_tab(self) -> pd.Series:
        """Of each id its symbol."""
        return self.t.symbol_table.get_sym_table_series()

    @property
    def iteration_df(self) -> pd.DataFrame:
        """The profiler steps that the traces name: `symbol`, `id` and `iteration`, by iteration."""
        table = self.t.symbol_table.get_sym_table()
        found = [(symbol, place, int(m[1])) for place, symbol in enumerate(table) if (m := _STEP.match(symbol))]
        return pd.DataFrame(sorted(found, key=lambda step: step[2]), columns=["symbol", "id", "iteration"])

    def ranks(self) -> list[int]:
        """Sorted."""
        return sorted(self.t.get_ranks())

    def iterations(self) -> list[int]:
        """The numbers of the profiler steps, sorted, without repetition."""
        return sorted(set(self.iteration_df["iteration"].tolist()))

    def extract_ops(
        self, rank: Chosen = None, iteration: Chosen = None, device_type: DeviceType = DeviceType.ALL
    ) -> pd.DataFrame:
        """The events of some ranks and steps.

        Args:
            rank: one, or a list; None: the first. Several give two columns more, at the front: `rank`, `idx` (the event).
            iteration: one, or a list; None: the first.
            device_type: host, device, or both.

        Raises:
            ValueError: the trace has no such rank or step.
        """
        ranks = _chosen(rank, self.ranks(), "rank")
        iterations = _chosen(iteration, self.iterations(), "iteration")
        if not ranks:
            raise ValueError("rank is empty: name one, or leave it out for the first")
        ops = self.t.get_trace(ranks[0])
        if len(ranks) > 1:
            ops = pd.concat([self.t.get_trace(r) for r in ranks], keys=ranks, names=["rank", "idx"]).reset_index()
        is_wanted = ops["iteration"].isin(iterations)
        if device_type == DeviceType.CPU:
            is_wanted &= ops["stream"] == -1
        elif device_type == DeviceType.GPU:
            is_wanted &= ops["stream"] != -1
        return ops[is_wanted]

    def get_ops_summary(self, ops: pd.DataFrame) -> pd.DataFrame:
        """Of each category and name: how many events there are and how long they last in all (us).

        Args:
            ops: rows of `extract_ops` of this trace.

        Returns:
            Columns `cat`, `name`, `short_name`, `counts`, `total_duration`, `cat_id`, `name_id`.
        """
        sums = ops.groupby(["cat", "name"])["dur"].agg(["count", "sum"]).reset_index()
        sums.columns = pd.Index(["cat_id", "name_id", *_SUMS])
        symbols = self.s_tab
        sums["cat"] = symbols.reindex(sums["cat_id"]).to_numpy()
        sums["name"] = symbols.reindex(sums["name_id"]).to_numpy()
        short = {name: shorten_name(name) for name in sums["name"].unique()}
        sums["short_name"] = sums["name"].map(short)
        return sums[_SUMMARY]


class TraceDiff:
    """What has changed from one trace, the control, to another, the test.

    Either is a `LabeledTrace`, or a folder, which is then called "Control" or "Test". Ranks and steps are chosen as in
    `LabeledTrace.extract_ops`.
    """

    @classmethod
    def compare_traces(
        cls,
        control: LabeledTrace | str,
        test: LabeledTrace | str,
        control_rank: Chosen = None,
        test_rank: Chosen = None,
        control_iteration: Chosen = None,
        test_iteration: Chosen = None,
        device_type: DeviceType = DeviceType.ALL,
        use_short_name: bool = False,
    ) -> pd.DataFrame:
        """Counts and durations (us) of each name in both.

        Returns:
            Indexed by `name` (or `short_name`), the control's names first: `<control>_counts`, `<control>_total_duration`,
            the same of the test, `diff_counts` and `diff_duration` (test less control), and `counts_change_categories`: "+",
            "-" or "=".

        Raises:
            ValueError: a folder, a rank or a step is not there.
        """
        a, b = _labeled(control, "Control"), _labeled(test, "Test")
        if a.label == b.label:
            b = copy.copy(b) if a is b else b
            b.label = f"{a.label}_control_test"
            logger.warning('both traces are called "%s": the second one is called "%s" from here on', a.label, b.label)
        name = "short_name" if use_short_name else "name"
        left = _sums_by(name, a, control_rank, control_iteration, device_type)
        right = _sums_by(name, b, test_rank, test_iteration, device_type)
        names = left.index.append(right.index.difference(left.index)).rename(name)
        both = pd.concat([left.reindex(names), right.reindex(names)], axis=1).fillna(0)
        for what, diff in zip(_SUMS, ["diff_counts", "diff_duration"]):
            both[diff] = both[f"{b.label}_{what}"] - both[f"{a.label}_{what}"]
        both["counts_change_categories"] = _signs(both["diff_counts"])
        return both

    @classmethod
    def ops_diff(
        cls,
        control: LabeledTrace | str,
        test: LabeledTrace | str,
        control_rank: Chosen = None,
        test_rank: Chosen = None,
        control_iteration: Chosen = None,
        test_iteration: Chosen = None,
        device_type: DeviceType = DeviceType.ALL,
    ) -> dict[str, list[str]]:
        """The names that are `added`, `deleted`, and more often (`increased`), more rarely (`decreased`) or as often there
        (`unchanged`), in the order of `compare_traces`.

        Raises:
            ValueError: as there.
        """
        both = cls.compare_traces(
            control, test, control_rank, test_rank, control_iteration, test_iteration, device_type, use_short_name=False
        )
        before, after, diff = both.iloc[:, 0], both.iloc[:, 2], both["diff_counts"]
        parts = {
            "added": (before == 0) & (after > 0),
            "deleted": (before > 0) & (after == 0),
            "increased": (before > 0) & (after > 0) & (diff > 0),
            "decreased": (before > 0) & (after > 0) & (diff < 0),
            "unchanged": (after > 0) & (diff == 0),
        }
        return {part: both.index[mask].tolist() for part, mask in parts.items()}

    @classmethod
    def visualize_counts_diff(
        cls, df: pd.DataFrame, show_image: bool = True, export_image_path: str | None = None
    ) -> None:
        """Draws the counts of a frame of `compare_traces`, a group of bars for each name.

        Args:
            export_image_path: write it there (needs the package kaleido).
        """
        _draw(df, "counts", "diff_counts", show_image, export_image_path, title="Ops Count Comparison")

    @classmethod
    def visualize_duration_diff(
        cls, df: pd.DataFrame, show_image: bool = True, export_image_path: str | None = None
    ) -> None:
        """As `visualize_counts_diff`, of the durations."""
        layout = {"title": "Ops Duration Comparison", "yaxis_title": "Total Duration (us)", "width": 1000, "height": 1000}
        _draw(df, "total_duration", "diff_duration", show_image, export_image_path, **layout)


def _chosen(wanted: Chosen, there: list[int], what: str) -> list[int]:
    """What is wanted, as a list; the first where nothing is said."""
    if wanted is None:
        if not there:
            raise ValueError(f"the trace has no {what} to choose the first of")
        return there[:1]
    numbers = wanted if isinstance(wanted, list) else [wanted]
    if not all(hasattr(number, "__index__") for number in numbers):
        raise ValueError(f"{what}={wanted!r}: a number or a list of numbers is wanted")
    if not set(numbers) <= set(there):
        raise ValueError(f"{what}={wanted}: the trace has {', '.join(map(str, there)) or 'none'}")
    return [number for number in there if number in numbers]


def _labeled(trace: LabeledTrace | Trace | str, label: str) -> LabeledTrace:
    if isinstance(trace, LabeledTrace):
        return trace
    if isinstance(trace, Trace):
        return LabeledTrace(label, t=trace)
    if isinstance(trace, str):
        return LabeledTrace(label, trace_dir=trace)
    raise ValueError(f"{trace!r}: a LabeledTrace or the path of a folder is wanted")


def _sums_by(name: str, trace: LabeledTrace, rank: Chosen, iteration: Chosen, device_type: DeviceType) -> pd.DataFrame:
    """Counts and durations by name, sorted, over all categories."""
    summary = trace.get_ops_summary(trace.extract_ops(rank, iteration, device_type))
    return summary.groupby(name)[_SUMS].sum().add_prefix(f"{trace.label}_")


def _signs(differences: pd.Series) -> pd.Series:
    signs = pd.Series("=", index=differences.index)
    return signs.mask(differences > 0, "+").mask(differences < 0, "-")


def _draw(df: pd.DataFrame, what: str, difference: str, show_image: bool, path: str | None, **layout: Any) -> None:
    columns = {c.removesuffix(f"_{what}"): c for c in df.columns if c.endswith(f"_{what}") and c != difference}
    columns["Difference"] = difference
    heights = {name: df[column].to_numpy() for name, column in columns.items()}
    go = graph_objects()
    if go is None:
        return
    figure = go.Figure([go.Bar(name=name, x=df.index, y=values) for name, values in heights.items()])
    figure.update_layout(barmode="group", **layout)
    if show_image:
        figure.show()
    if path is not None:
        figure.write_image(path)
