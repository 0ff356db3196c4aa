"""A job's first capture by default: of one rank alone. The others follow if the job goes on as before, and never if it does not."""

import contextlib

import pytest

from agent import Agent, tables, until
from incident import automatic_captures, incidents, record
from simulated_job import simulate, steps_of, steps_seen
from test_alerts import HOOK, alert, frame

RANKS, SLOW = 4, 2
JOB, STEP_MS = "4743", 20


@pytest.fixture(name="traces", scope="module")
def simulated(tmp_path_factory):
    return simulate(tmp_path_factory.mktemp("simulated") / "job", RANKS, SLOW)


@contextlib.contextmanager
def an_alert_about_a_job(tmp_path, traces, rankless=False):
    """(agent, the job's processes, says(ms): how long its steps take from now on)"""
    (tmp_path / "traces").mkdir(mode=0o777)
    config = tmp_path / "agent.yaml"
    config.write_text(f"history: off\noutput_directories: [{tmp_path / 'traces'}]\n"
                      "respond: {captures: automatic, min_age: 0s, min_steps: 0, least_free: 0}\n")
    with Agent("--config", config, "--collect", "agent:1s,step,process,job_log") as agent, \
            steps_of(JOB, RANKS, tmp_path / "train.log", STEP_MS, rankless) as says, \
            agent.spawn("--children", RANKS, *["--rankless"] * rankless, "--traces", traces, "--period", "1", SLURM_JOB_ID=JOB,
                        **({} if rankless else {"SLURM_NTASKS": RANKS})) as processes:
        until(lambda: sum(row["job"] == JOB for row in agent.processes()) >= RANKS, 30, "all ranks are known")
        until(lambda: steps_seen(agent, JOB) > 100, 30, "it makes steps", every=0.1)
        begin_alert(agent)
        yield agent, processes, says


def begin_alert(agent):
    status, document = agent.api("POST", HOOK, frame(alert(job_id=JOB)))
    assert status == 202 and [row["outcome"] for row in tables(document)["alerts"]] == ["begins"], document


def concluded(agent):
    def now():
        made = [row for row in incidents(agent, JOB) if row["state"] in ("verdict", "inconclusive")]
        return made and record(agent, made[0]["id"])
    return until(now, 60, "it is concluded", every=0.2)


def test_the_others_follow_if_it_goes_on(tmp_path, traces):
    with an_alert_about_a_job(tmp_path, traces) as (agent, _, _):
        made = concluded(agent)
        until(lambda: automatic_captures(agent) == {"traced": 2}, 5, "both are counted", every=0.2)
        until(lambda: all(capture["cost_s"] is not None for capture in record(agent, made["id"])["captures"]), 40,
              "what each of them cost is known", every=0.5)
    assert [capture["ranks"] for capture in made["captures"]] == ["0", f"0-{RANKS - 1}"], made
    first, second = made["captures"]
    assert first["id"] and second["id"] and first["id"] != second["id"] and second["steps"] == 4, made
    assert (made["verdict"]["cause"], [suspect["rank"] for suspect in made["verdict"]["suspects"]]) == ("slow_device", [SLOW]), made


def test_nobody_follows_if_it_does_not(tmp_path, traces):
    with an_alert_about_a_job(tmp_path, traces) as (agent, processes, says):
        first = next(event["child"] for event in processes.so_far() if event["event"] == "child" and event["rank"] == 0)
        processes.wait_for("capturing", 30, pid=first)
        says(STEP_MS * 4)
        made = concluded(agent)
        assert [capture["ranks"] for capture in made["captures"]] == ["0"] and made["verdict"] is None, made
        assert "one rank alone was traced: the job did not go on as before" in made["not_known"], made
        assert [row["processes"] for row in agent.table("/v1/captures", "captures") if row["job"] == JOB] == [1]


def test_where_ranks_are_not_known_it_is_one_process(tmp_path, traces):
    with an_alert_about_a_job(tmp_path, traces, rankless=True) as (agent, _, _):
        made = concluded(agent)
        captures = [row["processes"] for row in agent.table("/v1/captures", "captures") if row["job"] == JOB]
        known = {f"process {row['pid']}" for row in agent.processes() if row["job"] == JOB}
    assert sorted(captures) == [1, RANKS + 1], made  # it is not known either that who has begun them is none of them
    assert made["captures"][0]["ranks"] in known and made["captures"][1]["ranks"] == "all", made
