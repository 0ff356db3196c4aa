"""Trains next to nothing, for the tests with real PyTorch: train.py SECONDS STOP_FILE.

A small network on the CPU, an optimizer step every 20 ms; with WORLD_SIZE set, under DistributedDataParallel with gloo.
Ends after SECONDS, or at the first step at which STOP_FILE exists (in a job all ranks end at the same step). Prints a
line `ready PID` after its first step.
"""

import os
import pathlib
import sys
import time

import torch

torch.set_num_threads(1)
STEP_SECONDS = 0.02


def main():
    seconds, stop_file = float(sys.argv[1]), pathlib.Path(sys.argv[2])
    distributed = "WORLD_SIZE" in os.environ
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 8))
    if distributed:
        torch.distributed.init_process_group("gloo")
        model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    inputs, targets = torch.randn(32, 64), torch.randn(32, 8)
    end = time.monotonic() + seconds
    step, ending = 0, False
    while not ending:
        start = time.monotonic()
        loss = torch.nn.functional.mse_loss(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step == 1:
            print(f"ready {os.getpid()}", flush=True)
        ending = stop_file.exists() or start > end
        if distributed:
            # All leave the loop together, or those that stay would wait for the others.
            vote = torch.tensor([int(ending)])
            torch.distributed.all_reduce(vote, torch.distributed.ReduceOp.MAX)
            ending = bool(vote.item())
        time.sleep(max(0.0, start + STEP_SECONDS - time.monotonic()))
    if distributed:
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
