"""Trains next to nothing: the real PyTorch of the demo, of tools/closed_loop and of the tests.

usage: train.py SECONDS STOP_FILE [STEP_SECONDS [DATA_FOLDER]]

A small network on the CPU, an optimizer step every STEP_SECONDS (20 ms); in a job of torchrun or srun, under DistributedDataParallel
with gloo. With TRAIN_DEVICE=cuda a larger one on the GPU, which all ranks share. With DATA_FOLDER each step's batch is read from a file
there, RANK.data, past the page cache. Ends after SECONDS, or at the first step at which STOP_FILE exists (in a job all ranks end at the
same step).
Prints a line `ready PID RANK` after its first step, and one as torchtitan's after every 25th, or TRAIN_LOG_EVERY.
"""

import os
import pathlib
import sys
import time

import torch

torch.set_num_threads(1)
STEP_SECONDS = float(sys.argv[3]) if len(sys.argv) > 3 else 0.02
DATA_FOLDER = pathlib.Path(sys.argv[4]) if len(sys.argv) > 4 else None
DEVICE = torch.device(os.environ.get("TRAIN_DEVICE", "cpu"))
LOG_EVERY = int(os.environ.get("TRAIN_LOG_EVERY", "25"))
BATCH = (32, 64) if DEVICE.type == "cpu" else (2048, 1024)
# srun has names of its own for a process's place in the job.
PLACE_BY_SLURM = {"RANK": "SLURM_PROCID", "WORLD_SIZE": "SLURM_NTASKS"}


class Stored:
    """Batches in a file, whose pages are dropped behind the reader: storage that is slow is felt at each step."""

    BATCHES = 256

    def __init__(self, path):
        path.write_bytes(torch.randn(self.BATCHES, *BATCH).numpy().tobytes())
        self.file = os.open(path, os.O_RDONLY)
        os.fsync(self.file)  # pages that are not written yet cannot be dropped
        os.posix_fadvise(self.file, 0, 0, os.POSIX_FADV_RANDOM)
        self.size = BATCH[0] * BATCH[1] * 4

    def batch(self, step):
        data = os.pread(self.file, self.size, step % self.BATCHES * self.size)
        os.posix_fadvise(self.file, 0, 0, os.POSIX_FADV_DONTNEED)
        return torch.frombuffer(bytearray(data), dtype=torch.float32).reshape(BATCH)


def network():
    if DEVICE.type == "cpu":
        return torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 8))
    width = BATCH[1]
    hidden = [layer for _ in range(4) for layer in (torch.nn.Linear(width, width), torch.nn.ReLU())]
    return torch.nn.Sequential(*hidden, torch.nn.Linear(width, 8))


def train(distributed, ends):
    stored = Stored(DATA_FOLDER / f"{os.environ.get('RANK', 0)}.data") if DATA_FOLDER else None
    model = network().to(DEVICE)
    if distributed:
        model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    inputs, targets = torch.randn(BATCH, device=DEVICE), torch.randn(BATCH[0], 8, device=DEVICE)
    step, ending = 0, False
    while not ending:
        start = time.monotonic()
        if stored:
            inputs = stored.batch(step).to(DEVICE)
        loss = torch.nn.functional.mse_loss(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step == 1:
            os.write(1, f"ready {os.getpid()} {os.environ.get('RANK', 0)}\n".encode())  # in one piece, as the ranks share it
        if step % LOG_EVERY == 0:
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
