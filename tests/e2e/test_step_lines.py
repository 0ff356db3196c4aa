"""The steps and the last words of a job, from the lines that it writes to a file while that is rotated, cut off and removed."""

import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import pytest

from agent import Agent, clean_environment, tables, until
from test_less_power import OWNER, service

# What the frameworks print at the end of a step.
LINES = {
    "megatron": " iteration {step:>8}/ 500 | consumed samples: 1 | elapsed time per iteration (ms): {ms} | loss: 1 |\n",
    "torchtitan": "step: {step:2}  loss:  7.12345  memory: 60.12GiB(75.90%)  tps: 6,412  mfu: 31.56%\n",
    "tqdm": " 37%|###7      | {step}/500 [00:14<00:25,  {s:.2f}s/it]\r",
    "deepspeed": "epoch=0/micro_step=120/global_step={step}, RunningAvgSamplesPerSec=45.1, CurrSamplesPerSec=44.9, MemAllocated=1.2GB\n",
    "ds_pipe": "steps: {step} loss: 2.3012 iter time (s): {s:.3f} samples/sec: 204.800\n",
    "nemo": "Training epoch 0, iteration {step}/500 | lr: 1.5e-05 | train_step_timing in s: {s:.3f} | consumed_samples: 10240\n",
    "verl": "step:{step} - global_seqlen/min:484245.000 - timing_s/gen:0.050 - timing_s/step:{s:.3f} - perf/throughput:812.1\n",
}
PRINTED_WITHIN = {"megatron": 500_000, "tqdm": 5_000_000, "ds_pipe": 500_000, "nemo": 500_000, "verl": 500_000}  # ns
LENGTH = len(LINES["megatron"].format(step=5, ms=500))
# Such a line for each number that it is told, to standard output, which SIGHUP has it open anew.
JOB = r"""
import os, signal, sys
def reopen(*_):
    os.dup2(os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644), 1)
signal.signal(signal.SIGHUP, reopen)
reopen()
for line in sys.stdin:
    step, ms = line.split()
    text = sys.argv[2].format(step=int(step), ms=int(ms), s=int(ms) / 1000)
    os.write(1, (text if int(step) > 0 else "RuntimeError: CUDA error: an illegal memory access\n").encode())
"""


@contextlib.contextmanager
def job(log, number, user=None, line=LINES["megatron"]):
    environment = clean_environment(SLURM_JOB_ID=number, SLURM_PROCID=3, SLURM_NTASKS=4, SLURM_STEP_ID=0, RANK=3)
    with subprocess.Popen(["python3" if user else sys.executable, "-c", JOB, log, line], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          env=environment, user=user) as process:
        def says(step, ms):
            process.stdin.write(f"{step} {ms}\n".encode())
            process.stdin.flush()
        process.says = says
        try:
            yield process
        finally:
            process.kill()


def rows(agent, table, number):
    found = tables(agent.api("GET", "/v1/metrics")[1]).get(table, [])
    return [row for row in found if row["job"] == str(number)]


def step_of(agent, number):
    return (rows(agent, "step", number) or [{"step_ns": None}])[0]


def told(agent, process, number, step, ms):
    """Says a step and waits until the agent does."""
    process.says(step, ms)
    row = until(lambda: (now := step_of(agent, number))["step_ns"] == ms * 1_000_000 and now, 15, f"step {step} is told")
    assert row["source"] == "log:megatron" and row["rank"] is None and row["step_error_ns"] == 500_000
    assert row["step_longest_ns"] == row["step_ns"] and row["step_age_ns"] < 5e9


def test_lines_of_a_file_that_is_rotated_cut_off_and_removed(tmp_path):
    log = tmp_path / "train.log"
    with Agent("--collect", "process,job_log,step") as agent, job(log, 47110) as process:
        def log_row():
            return (rows(agent, "job_log", 47110) or [{"files": 0}])[0]
        until(lambda: log_row()["files"] == 1, 20, "its standard output is found")
        told(agent, process, 47110, 1, 100)
        told(agent, process, 47110, 2, 200)
        log.rename(tmp_path / "train.log.1")  # it still writes there
        told(agent, process, 47110, 3, 300)
        process.send_signal(1)
        until(lambda: log.exists(), 5, "it opens another")
        told(agent, process, 47110, 4, 400)
        assert log_row()["replaced"] == 1
        os.truncate(log, 0)
        until(lambda: log_row()["cut_off"] == 1, 5, "it is cut off")
        told(agent, process, 47110, 5, 500)
        log.unlink()
        told(agent, process, 47110, 6, 600)
        assert step_of(agent, 47110)["steps"] == 5
        process.says(0, 0)
        event = until(lambda: rows(agent, "log_event", 47110), 5, "its last words are told")[0]
        assert event["kind"] == "cuda_error" and event["lines"] == 1 and event["text"] == "RuntimeError: CUDA error: an illegal memory access"
        assert event["file"].startswith(str(log)) and event["offset"] == 2 * LENGTH  # steps 5 and 6 are before it
        process.kill()
        until(lambda: not rows(agent, "step", 47110), 15, "the job is over")
        agent.assert_well()


def test_lines_of_each_framework_while_its_file_is_rotated_cut_off_and_removed(tmp_path):
    """What they say of their steps, or where they say no time, when they came."""
    with Agent("--collect", "process,job_log,step") as agent, contextlib.ExitStack() as stack:
        numbers = {form: 48000 + i for i, form in enumerate(LINES)}
        logs = {form: tmp_path / f"{form}.log" for form in LINES}
        jobs = {form: stack.enter_context(job(logs[form], numbers[form], line=LINES[form])) for form in LINES}
        until(lambda: all((rows(agent, "job_log", n) or [{"files": 0}])[0]["files"] == 1 for n in numbers.values()), 30, "all are found")
        written = {}

        def all_say(step):
            """Each a time of its own, so that no other step's is taken for it."""
            for process in jobs.values():
                process.says(step, 100 * step)
            told = {}
            def all_are_told():
                """A sample has the time of a step only if one came since the sample before."""
                for form, number in numbers.items():
                    row = step_of(agent, number)
                    if row.get("steps") == step - 1 and (row["step_ns"] or (step == 1 and form not in PRINTED_WITHIN)):
                        told.setdefault(form, row)
                return len(told) == len(numbers)
            until(all_are_told, 15, f"step {step} of all is told")
            for form, row in told.items():
                before, written[form] = written.get(form), os.stat(f"/proc/{jobs[form].pid}/fd/1").st_mtime_ns
                assert row["source"] == f"log:{form}", row
                if form in PRINTED_WITHIN:
                    assert row["step_ns"] == step * 100_000_000 and row["step_error_ns"] == PRINTED_WITHIN[form], (step, row)
                elif step > 1:
                    assert abs(row["step_ns"] - (written[form] - before)) <= row["step_error_ns"], (step, written[form] - before, row)

        all_say(1)
        all_say(2)
        for form, process in jobs.items():
            logs[form].rename(tmp_path / f"{form}.1")
            process.send_signal(1)
        until(lambda: all(log.exists() for log in logs.values()), 5, "they open others")
        all_say(3)
        for log in logs.values():
            os.truncate(log, 0)
        until(lambda: all(rows(agent, "job_log", n)[0]["cut_off"] == 1 for n in numbers.values()), 10, "they are cut off")
        all_say(4)
        for log in logs.values():
            log.unlink()
        all_say(5)
        agent.assert_well()


def test_files_and_expressions_of_the_configuration(tmp_path):
    logs = tmp_path / "4712"
    logs.mkdir()
    configuration = tmp_path / "agent.yaml"
    configuration.write_text(f"step_log: {tmp_path}/{{job}}/*.txt\nstep_line: 'did (?P<step>\\d+) in (?P<s>[\\d.]+) s'\n")
    with Agent("--config", str(configuration), "--collect", "process,job_log,step") as agent, job("/dev/null", 4712):
        file = logs / "rank0.txt"
        file.write_text("did 1 in 1.00 s\n")
        until(lambda: rows(agent, "job_log", 4712) and rows(agent, "job_log", 4712)[0]["files"] == 1, 20, "it is found")
        with open(file, "a", encoding="utf-8") as out:
            out.write("did 2 in 2.50 s\n")
        row = until(lambda: (now := step_of(agent, 4712))["step_ns"] and now, 5, "the step is told")
        assert row["source"] == "log:own" and row["step_ns"] == 2_500_000_000 and row["step_error_ns"] == 5_000_000


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has two users")
def test_what_is_not_the_jobs_users_is_not_read(tmp_path):
    log = tmp_path / "train.log"
    with Agent("--collect", "process,job_log,step") as agent:
        log.touch()
        os.chown(log, 12345, 12345)
        with job(log, 4713) as process:
            until(lambda: rows(agent, "job_log", 4713), 20, "the job is seen")
            process.says(1, 100)
            time.sleep(6)
            assert rows(agent, "job_log", 4713)[0]["files"] == 0 and rows(agent, "step", 4713) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes others")
def test_an_agent_that_is_not_root_reads_what_the_jobs_user_alone_may():
    with service("--collect", "process,job_log,step") as agent, tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chown(folder, OWNER, OWNER)
        os.chmod(folder, 0o700)
        log = pathlib.Path(folder) / "train.log"
        log.touch()
        os.chown(log, OWNER, OWNER)
        os.chmod(log, 0o600)
        with job(log, 4714, user=OWNER) as process:
            until(lambda: rows(agent, "job_log", 4714) and rows(agent, "job_log", 4714)[0]["files"] == 1, 20, "it is found")
            told(agent, process, 4714, 1, 100)
            process.says(0, 0)
            event = until(lambda: rows(agent, "log_event", 4714), 5, "its last words are told")[0]
            assert event["kind"] == "cuda_error" and event["text"] is None and event["offset"] == LENGTH
