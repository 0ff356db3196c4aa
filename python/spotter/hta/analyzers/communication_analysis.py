"""How much of the communication is hidden behind computation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from spotter.hta import _figures
from spotter.hta._answers import Answers

if TYPE_CHECKING:
    from spotter.hta.common.trace import Trace


class CommunicationAnalysis:
    """The analysis of `TraceAnalysis` of the same name, of a `Trace`."""

    @classmethod
    def get_comm_comp_overlap(cls, t: Trace, visualize: bool = True) -> pd.DataFrame:
        """A row per rank: the part of its communication during which it computes, in percent (`comp_comm_overlap_pctg`); NaN where there
        is no communication. By `spotter.comm_comp_overlap`."""
        answers = Answers(t, t.get_ranks(), ["comm_comp_overlap"])
        ratios = answers["comm_comp_overlap"].set_index("rank")["ratio"].astype(float)
        percents = (100 * ratios.reindex(answers.ranks)).round(2)
        result = pd.DataFrame({"rank": answers.ranks, "comp_comm_overlap_pctg": percents.to_numpy()})
        if visualize:
            _figures.comm_comp_overlap(result)
        return result
