"""Trains next to nothing, for the tests with real PyTorch: train.py SECONDS STOP_FILE.

A small network on the CPU, an optimizer step every 20 ms; in a job of torchrun or srun, under DistributedDataParallel
with gloo. Ends after SECONDS, or at the first step at which STOP_FILE exists (in a job all ranks end at the same step).
Prints a line `ready PID` after its first step, and one as torchtitan's after every 25th.
"""

import os
import pathlib
import sys
import time

import torch

torch.set_num_threads(1)
STEP_SECONDS = 0.02
# srun has names of its own for a process's place in the job.
PLACE_BY_SLURM = {"RANK": "SLURM_PROCID", "WORLD_SIZE": "SLURM_NTASKS"}


def train(distributed, ends):
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 8))
    if distributed:
        model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    inputs, targets = torch.randn(32, 64), torch.randn(32, 8)
    step, ending = 0, False
    while not ending:
        start = time.monotonic()
        loss = torch.nn.functional.mse_loss(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step == 1:
            os.write(1, f"ready {os.getpid()}\n".encode())  # in one piece, as the ranks share it
        if step % 25 == 0:
            os.write(1, f"step: {step:2}  loss: {loss.item():7.5f}  tps: {32 / STEP_SECONDS:.0f}\n".encode())
        ending = ends()
        if distributed:
            # All leave the loop together, or those that stay would wait for the others.
            vote = torch.tensor([int(ending)])
            torch.distributed.all_reduce(vote, torch.distributed.ReduceOp.MAX)
            ending = bool(vote.item())
        time.sleep(max(0.0, start + STEP_SECONDS - time.monotonic()))


def main():
    seconds, stop_file = float(sys.argv[1]), pathlib.Path(sys.argv[2])
    end = time.monotonic() + seconds
    for name, slurm in PLACE_BY_SLURM.items():
        if slurm in os.environ:
            os.environ.setdefault(name, os.environ[slurm])
    distributed = "WORLD_SIZE" in os.environ

    def ends():
        return stop_file.exists() or time.monotonic() > end

    if not distributed:
        train(distributed, ends)
        return
    torch.distributed.init_process_group("gloo")
    try:
        train(distributed, ends)
    except RuntimeError as error:
        # A rank has gone. With gloo the others hear of it and would end; with NCCL, as in real jobs, they wait.
        print(f"lost a rank: {error}", flush=True)
        while not ends():
            time.sleep(STEP_SECONDS)
        os._exit(1)  # nothing that waits for the lost rank again
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
