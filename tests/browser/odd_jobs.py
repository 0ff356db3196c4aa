"""Small jobs that lack something, each as {file: bytes}, and what the page says is missing."""

import json
import pathlib

import harness

FIXTURES = harness.ROOT / "tests" / "fixtures" / "traces"
STEP_US = 1000


def operator(at, name="aten::mm", dur=100, number=0):
    return {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": at, "dur": dur, "args": {"External id": number}}


def launch(at, number, name="cudaLaunchKernel", dur=5):
    return {"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 1, "tid": 1, "ts": at, "dur": dur, "args": {"correlation": number, "External id": number}}


def kernel(at, number, name="gemm_kernel", dur=80, cat="kernel"):
    return {"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": 7, "ts": at, "dur": dur,
            "args": {"device": 0, "stream": 7, "correlation": number, "External id": number}}


def step(at, number, dur=STEP_US):
    return {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{number}", "pid": 1, "tid": 1, "ts": at, "dur": dur}


def trace(events, rank=None, **more):
    own = {} if rank is None else {"distributedInfo": {"rank": rank, "world_size": 8}}
    return json.dumps({**own, **more, "traceEvents": events}).encode()


def passes(launched=True, ran=True, marked=True, host=True, names=("gemm_kernel", "ncclDevKernel_AllReduce_Sum_f32"), call="cudaLaunchKernel"):
    """Events of three steps."""
    events, number = [], 0
    for count in range(3):
        begin = 10_000 + count * STEP_US
        events += [step(begin, count)] if marked else []
        for name in names:
            number += 1
            at = begin + 200 * number - 400 * count
            events += [operator(at, number=number)] if host else []
            events += [launch(at + 10, number, call)] if launched else []
            events += [kernel(at + 30, number, name)] if ran else []
    return events


def launched_collectives():
    """Events of three steps with collectives of which the host tells only, as the kernels of a process group that was not recorded."""
    events = []
    for number, event in enumerate(passes(names=("gemm_kernel",))):
        events.append(event)
        if event["name"] == "aten::mm":
            events += [{**operator(event["ts"] + 200, "nccl:all_reduce", number=1000 + number), "cat": "user_annotation"}, launch(event["ts"] + 210, 1000 + number)]
    return events


def files_of(folder):
    return {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}


MEMORY, MODULES, STEPS, NO_DEVICE = "hold no memory events", "with_stack=True", "No steps were marked", "No device work was recorded"
GPU = {"deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85_000_000_000}]}

# Of each job its files, and of views the words of what is missing.
ODD = {
    "empty": (lambda: {"rank0.json": trace([], 0)}, {
        "overview": "No steps and no operators were recorded", "steps": STEPS, "operators": "No operators were recorded", "kernels": NO_DEVICE, "modules": MODULES,
        "memory": MEMORY, "distributed": "neither steps nor operators", "critical-path": "No steps: neither marks of steps nor device work", "idle": NO_DEVICE,
        "call-tree": "neither operators nor Python functions were recorded", "diff": "There is one job only"}),
    "named_only": (lambda: {"rank0.json": trace([{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}}], 0)}, {
        "steps": STEPS, "operators": "No operators were recorded", "idle": NO_DEVICE}),
    "host_only": (lambda: {"rank0.json": trace(passes(launched=False, ran=False), 0)}, {
        "overview": NO_DEVICE, "operators": "only the host's times", "kernels": NO_DEVICE, "idle": NO_DEVICE, "distributed": "does not communicate", "memory": MEMORY}),
    "host_ddp": (lambda: files_of(FIXTURES / "cpu_ddp"), {"overview": NO_DEVICE, "kernels": NO_DEVICE, "idle": NO_DEVICE}),
    "no_kernels": (lambda: {"rank0.json": trace(passes(ran=False), 0, **GPU)}, {"overview": NO_DEVICE, "kernels": NO_DEVICE, "idle": NO_DEVICE, "memory": MEMORY}),
    "no_steps": (lambda: {f"rank{rank}.json": trace(passes(marked=False), rank, **GPU) for rank in range(2)}, {"steps": STEPS, "memory": MEMORY, "modules": MODULES}),
    "one_rank": (lambda: {"rank3.json": trace(passes(), 3, **GPU)}, {"distributed": "The traces are of one rank only", "memory": MEMORY, "modules": MODULES}),
    "no_rank": (lambda: {"trace.json": trace(passes(), None, **GPU)}, {"distributed": "The traces are of one rank only", "memory": MEMORY}),
    "device_only": (lambda: {"rank0.json": trace(passes(launched=False, marked=False, host=False), 0, **GPU)}, {
        "steps": STEPS, "operators": "No operators were recorded", "idle": "idle", "modules": MODULES}),
    "no_length": (lambda: {"rank0.json": trace([{**event, "dur": 0} for event in passes()], 0, **GPU)}, {"memory": MEMORY}),
    "one_instant": (lambda: {"rank0.json": trace([operator(5, dur=0)], 0)}, {"kernels": NO_DEVICE, "memory": MEMORY}),
    "amd": (lambda: {f"rank{rank}.json": trace(passes(call="hipLaunchKernel", names=("Cijk_Alik_Bljk_BBS_BH_MT128x128x32", "ncclDevKernel_Generic_4")), rank,
                                               hip_runtime_version=60342, deviceProperties=[{"id": 0, "name": "AMD Instinct MI300X", "totalGlobalMem": 205_000_000_000, "warpSize": 64}])
                     for rank in range(2)}, {"overview": "MI300X", "kernels": "Cijk_Alik", "memory": MEMORY, "modules": MODULES}),
    "stacks": (lambda: files_of(FIXTURES / "cpu_stacks"), {"kernels": NO_DEVICE, "memory": MEMORY}),
}
