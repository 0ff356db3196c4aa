"""Which ranks hold the others back."""

from __future__ import annotations

import pandas as pd

from spotter.hta._rows import by_id
from spotter.hta.analyzers.straggler import extract_iteration_info, find_stragglers_with_late_start_comm_kernels
from spotter.hta.configs.config import logger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from spotter.hta.common.trace import Trace


class StragglerAnalysis:
    """Of a job's traces."""

    @classmethod
    def get_profiler_steps(cls, t: Trace) -> list[int]:
        """The numbers of the steps that the ranks' traces have in full, sorted."""
        return sorted(extract_iteration_info(t)["iter"].unique())

    @classmethod
    def get_potential_stragglers(
        cls,
        t: Trace,
        profiler_steps: list[int] | None = None,
        num_candidates: int = 2,
        visualize: bool = False,
        straggler_identification_impl: Callable[..., pd.Series] = find_stragglers_with_late_start_comm_kernels,
    ) -> list[int]:
        """The ranks that come late most often, the worst first; none where there is nothing to compare.

        Args:
            t: all ranks.
            profiler_steps: look at these alone; None: at all.
            num_candidates: how many ranks at most, 1 at least.
            straggler_identification_impl: what says how late ranks are. It gets the events of the steps, with columns `rank`
                and `idx` (the event's id) at the front, the symbol table, `num_candidates` and `visualize`, and returns a
                Series by rank.

        Raises:
            ValueError: the trace has none of these steps.
        """
        available = cls.get_profiler_steps(t)
        steps = [step for step in available if profiler_steps is None or step in profiler_steps]
        if not steps and profiler_steps is None:
            logger.warning("the traces have no steps (ProfilerStep#N), by which ranks are compared")
            return []
        if not steps:
            raise ValueError(f"profiler_steps={profiler_steps}: the trace has {[int(step) for step in available]}")
        most = max(num_candidates, 1)
        frames = {rank: by_id(frame) for rank, frame in t.get_all_traces().items()}
        events = pd.concat(list(frames.values()), keys=list(frames), names=["rank", "idx"]).reset_index()
        lateness = straggler_identification_impl(events[events["iteration"].isin(steps)], t.symbol_table, most, visualize)
        return lateness.sort_values(ascending=False, kind="stable").index[:most].tolist()
