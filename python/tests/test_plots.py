"""Figures show the numbers of their tables."""

import pytest

import spotter

go = pytest.importorskip("plotly.graph_objects")

MADE = ["temporal_breakdown", "comm_comp_overlap", "device_idle_breakdown", "idle_time_breakdown", "kernel_type_breakdown", "kernel_breakdown",
        "step_budget", "steps"]  # fmt: skip


@pytest.fixture(scope="module")
def results(job):
    return spotter.analyze(job, MADE, progress=False)


@pytest.mark.parametrize("name", MADE)
def test_each_has_a_figure_with_all_ranks(name, results):
    figure = results[name].plot()
    assert isinstance(figure, go.Figure) and figure.data
    figure.to_html()


def test_stacked_shares_are_whole(results):
    figure = results["temporal_breakdown"].plot()
    assert [sum(values) for values in zip(*(bar.y for bar in figure.data))] == pytest.approx([1] * 6)


def test_a_step_adds_up(results):
    figure = results["step_budget"].plot()
    lengths = [row["dur_ns"] / 1e6 for row in results["step_budget"] if row["of"] == "job"]
    assert [sum(values) for values in zip(*(bar.y for bar in figure.data))] == pytest.approx(lengths)


def test_the_heat_map_has_a_row_for_each_rank(results):
    (heat,) = results["steps"].plot().data
    assert list(heat.y) == [str(rank) for rank in range(6)] and len(heat.z) == 6
    assert all(value is not None for row in heat.z for value in row)


def test_memory(training):
    table = spotter.memory_timeline_series(training, progress=False)
    figure = table.plot()
    assert figure.data
    assert max(max(line.y) for line in figure.data if "allocated" in line.name) == pytest.approx(
        max(value for value in table["allocated_bytes"] if value is not None) / 1e9)


def test_other_tables_say_which_have_one(job):
    with pytest.raises(spotter.Invalid, match="no figure of operators; there are of temporal_breakdown"):
        spotter.operators(job, progress=False).plot()
