"""Jobs that are not traced for an incident: as their people, the configuration or the disk want it. Each says so, `ps` shows it, and no trace
is written."""

import os
import pwd
import shlex

import pytest

from agent import Agent, run, until
from incident import automatic_captures, incidents, record
from simulated_job import simulate, steps_of, steps_seen
from test_alerts import HOOK, alert, frame

JOB, STEP_MS = "4741", 20
LIMITS = "min_age: 0s, min_steps: 0, canary: false"
AUTOMATIC = f"captures: automatic, {LIMITS}, least_free: 0"


@pytest.fixture(name="traces", scope="module")
def simulated(tmp_path_factory):
    return simulate(tmp_path_factory.mktemp("simulated") / "job", 1, 0)


def told(tmp_path, traces, respond, check, steps=20, **environment):
    """check(the agent, the record of an incident that an alert began), of a job of which so many steps were seen."""
    (tmp_path / "traces").mkdir(mode=0o777)
    config = tmp_path / "agent.yaml"
    config.write_text(f"history: off\noutput_directories: [{tmp_path / 'traces'}]\nrespond: {{{respond}}}\n")
    with Agent("--config", config, "--collect", "agent:1s,step,process,job_log") as agent, \
            steps_of(JOB, 1, tmp_path / "train.log", STEP_MS), \
            agent.spawn("--traces", traces, RANK=0, WORLD_SIZE=1, SLURM_JOB_ID=JOB, SLURM_NTASKS=1, **environment) as one:
        agent.wait_for_processes([one.pid])
        until(lambda: steps_seen(agent, JOB) >= steps, 30, "it makes steps", every=0.1)
        [process] = [row for row in agent.processes() if row["pid"] == one.pid]
        agent.automatic = process["automatic"]
        assert agent.api("POST", HOOK, frame(alert(job_id=JOB)))[0] == 202
        [row] = until(lambda: [row for row in incidents(agent, JOB) if row["state"] in ("verdict", "inconclusive")], 60, "it is concluded", every=0.2)
        made = record(agent, row["id"])
        check(agent, made)
        agent.assert_well()


def is_refused(why, automatic, counted="refused"):
    def check(agent, made):
        assert agent.automatic == automatic
        assert made["state"] == "inconclusive" and made["captures"] == [], made
        assert [sentence for sentence in made["not_known"] if why in sentence], made["not_known"]
        assert agent.table("/v1/captures", "captures") == []
        until(lambda: automatic_captures(agent) == ({counted: 1} if counted else {}), 5, "it is counted", every=0.2)
    return check


def test_a_job_that_says_so(tmp_path, traces):
    told(tmp_path, traces, AUTOMATIC, is_refused("the job says SPOTTER_RESPOND=off", "off"), steps=0,
         SPOTTER_RESPOND="off")


def test_a_user_whom_the_configuration_names(tmp_path, traces):
    told(tmp_path, traces, f"{AUTOMATIC}, not_traced: [{pwd.getpwuid(os.geteuid()).pw_name}]", is_refused("leaves this user's jobs alone", "off"), steps=0)


def test_a_dry_run(tmp_path, traces):
    told(tmp_path, traces, AUTOMATIC.replace("automatic", "dry_run"),
         is_refused("(dry run): the job would have been traced for 1.5 s", None, "dry_run"))


def test_where_there_is_no_room(tmp_path, traces):
    told(tmp_path, traces, f"captures: automatic, {LIMITS}, least_free: 1000000G",
         is_refused("GiB free, and 1000000.0 GiB and a tenth are left to others", "on"))


@pytest.mark.parametrize(("limits", "why"), [("min_steps: 0", "was seen less than 300 s ago"),
                                             ("min_age: 0s, min_steps: 100000", "has made fewer than 100000 steps")])
def test_a_job_that_is_too_young_or_has_made_too_few_steps(tmp_path, traces, limits, why):
    told(tmp_path, traces, f"captures: automatic, least_free: 0, {limits}", is_refused(why, "on"))


def test_by_default_nothing_is_and_the_command_is_told(tmp_path, traces):
    def check(agent, made):
        is_refused("automatic captures are off", None, counted=None)(agent, made)
        words = shlex.split(made["to_trace"])
        assert words[:4] == ["spotter", "trace", "--job", JOB], made
        assert made["to_trace"] in run("incidents", made["id"], "--socket", agent.api_socket).stdout
        done = run(*words[1:], "--warmup", "0s", "--output", tmp_path / "traces", "--socket", agent.api_socket)
        assert done.returncode == 0 and "rank" in done.stdout, done
        [trace] = (tmp_path / "traces").glob("*rank0*.json")
        assert trace.name in done.stdout

    told(tmp_path, traces, "min_age: 5m", check)
