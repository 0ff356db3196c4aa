"""One rank of jobs of PyTorch on CPUs, under torchrun: gloo_job.py FOLDER FAULT... writes each job's trace into FOLDER/FAULT.

Four ranks share two cores, so most of a step is asleep, before the step's work, on all ranks alike. FAULT is what rank 2
has, or `none`: `more` calls operators that the others do not, `loader` waits for its batch, `garbage` collects garbage
in the forward pass, `sleep` sleeps there.
"""

import gc
import pathlib
import sys
import time

import torch
import torch.distributed as dist
from torch.profiler import ProfilerActivity, profile, schedule

WARM_UP, STEPS = 2, 6
SLEEP, LATE = 0.08, 0.1  # seconds
FAULTY = 2


class Batches(torch.utils.data.IterableDataset):
    def __init__(self, late):
        self.late, self.batch = late, torch.randn(16, 64)

    def __iter__(self):
        while True:
            if self.late:
                time.sleep(self.late)
            yield self.batch


class Model(torch.nn.Module):
    """Two layers, and between them what the fault does."""

    def __init__(self, fault):
        super().__init__()
        self.fault = fault
        self.first, self.last = torch.nn.Linear(64, 512), torch.nn.Linear(512, 8)
        self.rotation = torch.eye(512)
        # Cycles make a collection long.
        self.garbage = [[] for _ in range(1_500_000)] if fault == "garbage" else []
        for one in self.garbage:
            one.append(one)

    def forward(self, x):
        x = self.first(x)
        if self.fault == "more":
            with torch.no_grad():
                for _ in range(300):
                    x.detach() @ self.rotation
        if self.fault == "sleep":
            time.sleep(LATE)
        if self.fault == "garbage":
            gc.collect()
        return self.last(x)


def train(fault, trace):
    torch.manual_seed(0)
    model = torch.nn.parallel.DistributedDataParallel(Model(fault))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batches = iter(torch.utils.data.DataLoader(Batches(LATE if fault == "loader" else 0), batch_size=None))
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=0, warmup=WARM_UP, active=STEPS),
                 on_trace_ready=lambda p: p.export_chrome_trace(str(trace))) as profiler:
        for _ in range(WARM_UP + STEPS):
            inputs = next(batches)
            time.sleep(SLEEP)
            loss = model(inputs).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            profiler.step()


def main():
    folder, faults = pathlib.Path(sys.argv[1]), sys.argv[2:]
    torch.set_num_threads(1)
    gc.disable()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    for fault in faults:
        (folder / fault).mkdir(exist_ok=True)
        dist.barrier()
        train(fault if rank == FAULTY else "none", folder / fault / f"rank{rank}.json")
        gc.collect()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
