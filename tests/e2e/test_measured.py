"""What GPUs did themselves, as a history has it, joined with what a trace says: a rank of unmodified PyTorch that is held up from
outside, and whose GPU has a low clock. The driver's library is a fake (tests/fakes/nvml.cc), which says whose each GPU is."""

import contextlib
import subprocess
import sys

import pytest

from agent import BESIDE, ROOT, Agent, until
from test_closed_loop import BASELINE, LATEST, RANKS, incidents, is_told, our_incidents, pytestmark, rank_of, steps_seen  # noqa: F401: the mark
from test_pytorch import training

sys.path.append(str(ROOT / "tools"))
import loop_job  # noqa: E402

SLOW_CLOCK, USUAL_CLOCK = 900, 1900  # MHz


@pytest.fixture(name="driver", scope="module")
def fake_driver(tmp_path_factory):
    folder = tmp_path_factory.mktemp("driver")
    subprocess.run(["c++", "-std=c++20", "-shared", "-fPIC", "-O0", f"-I{ROOT / 'src'}", f"-I{ROOT / 'tests' / 'fakes'}",
                    str(ROOT / "tests" / "fakes" / "nvml.cc"), "-o", str(folder / "libnvidia-ml.so.1")], check=True)
    return folder


@contextlib.contextmanager
def agent_with_gpus(folder, driver, captures):
    """Without the rule that compares the GPUs of one host: what is found is found when the evidence is gathered."""
    config = folder / "agent.yaml"
    (folder / "state").mkdir()
    (folder / "traces").mkdir(mode=0o777)
    messages = folder / "messages"
    config.write_text(f"""
collect: step,process,nvidia
history: {folder / "state" / "history.db"}
output_directories: [{folder / "traces"}]
rules: {{rank_outlier: {{enabled: false}}}}
respond: {{captures: {captures}, min_age: 0s, min_steps: 0, canary: false, least_free: 0}}
notifiers:
  - {{name: file, type: file, path: {messages}}}
""")
    scenario = folder / "scenario"
    scenario.write_text(f"gpus {RANKS}\n")
    with Agent("--config", config, "--collect", "step,process,nvidia",
               before=("env", f"LD_LIBRARY_PATH={driver}", f"SPOTTER_FAKE_SCENARIO={scenario}")) as agent:
        agent.messages, agent.scenario = messages, scenario
        yield agent


@pytest.mark.parametrize("captures", ["automatic", pytest.param("off", marks=pytest.mark.whole)])
def test_the_clock_of_a_suspect_is_evidence(tmp_path, driver, captures):
    with agent_with_gpus(tmp_path, driver, captures) as agent, training(agent, ranks=RANKS) as pids:
        agent.job = agent.wait_for_processes(pids)[pids[0]]["job"]
        victim = pids[1]

        def clocks(of_victim):
            agent.scenario.write_text(f"gpus {RANKS}\ngpu * utilization 100\n" + "".join(
                f"gpu {gpu} process {pid} 1000000000 compute\ngpu {gpu} sm_clock {of_victim if pid == victim else USUAL_CLOCK}\n"
                for gpu, pid in enumerate(pids)))

        clocks(USUAL_CLOCK)
        until(lambda: len(seen := steps_seen(agent)) == RANKS and min(seen) > 800, BASELINE, "there is a baseline", every=0.5)
        clocks(SLOW_CLOCK)
        with loop_job.stop_pulses(victim):
            until(lambda: is_told(agent), 2 * LATEST, "it is told", every=0.2)
        print(agent.messages.read_text())
        [row] = [row for row in our_incidents(agent) if row["family"] == "speed"]
        record = incidents(agent, row["id"])
        rank = rank_of(victim)
        said = f"rank {rank} on {record['led_by']} (GPU 1): SM clock {SLOW_CLOCK} MHz (before: {USUAL_CLOCK} MHz), the median of {RANKS} ranks is {USUAL_CLOCK} MHz"
        evidence = [each["says"] for each in record["evidence"]]
        assert record["verdict"], record
        has_no_trace = captures == "off"
        # Where a build runs beside, traces may show that all wait, and not for whom.
        assert record["verdict"]["cause"] != "rank_outlier" or has_no_trace or BESIDE > 1
        if has_no_trace or record["verdict"]["cause"] == "rank_outlier":
            assert record["verdict"]["cause"] == "rank_outlier"
            assert said in evidence and record["verdict"]["confidence"] == "low"
            assert [suspect["rank"] for suspect in record["verdict"]["suspects"]] == [rank]
        elif rank in [suspect["rank"] for suspect in record["verdict"]["suspects"]]:
            assert said in evidence and record["verdict"]["confidence"] == "high"
        else:  # other work of this machine has held up another one
            assert any(said in sentence for sentence in record["against"])
