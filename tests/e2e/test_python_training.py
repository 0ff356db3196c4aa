"""spotter.on_trace_ready in a training script of PyTorch."""

import os
import subprocess

import pytest

import agent as agent_module

SCRIPT = """
import sys
import torch
import spotter

model, step = torch.nn.Linear(8, 8), torch.optim.SGD
optimizer = step(model.parameters(), 0.1)
schedule = torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=2)
with torch.profiler.profile(schedule=schedule, on_trace_ready=spotter.on_trace_ready(sys.argv[1])) as profiler:
    for _ in range(8):
        model(torch.ones(4, 8)).sum().backward()
        optimizer.step()
        profiler.step()
for path in __import__("pathlib").Path(sys.argv[1]).iterdir():
    print(path.name, len(spotter.steps(path, progress=False)))
"""


def test_traces_of_a_real_profiler(tmp_path):
    python, package = os.environ.get("SPOTTER_TORCH_PYTHON"), agent_module.program().parent / "python"
    if not python:
        pytest.skip("no PyTorch: name its Python in SPOTTER_TORCH_PYTHON (tools/torch)")
    if not package.is_dir():
        pytest.skip(f"the Python package was not built (no {package})")
    done = subprocess.run([python, "-c", SCRIPT, tmp_path], capture_output=True, text=True, timeout=120, check=False,
                          env=agent_module.clean_environment(PYTHONPATH=package, RANK=3))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.split("\n")[:-1]
    assert len(lines) == 2 and all(".rank3." in line and line.endswith(".pt.trace.json.gz 2") for line in lines), done.stdout
