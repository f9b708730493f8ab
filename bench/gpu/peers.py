"""peers.py - the same work done by PyTorch, torch.compile and cuBLAS, for gpu-bench to stand beside.

Prints one line for each row: name, peer, seconds a run. The names are those of gpu_bench.c. What is measured and how is
the same there: random data, buffers rotated so that none is found in the L2 cache, CUDA events around bursts, medians.
"""
import statistics
import sys
import time

import torch

SIDE = 8192
BURSTS, RUNS = 7, 20


def timed(runs):
    """Seconds of one run: the median over bursts that begin on an idle card. runs: one callable a set of buffers."""
    for run in runs:
        run()
    torch.cuda.synchronize()
    seconds = []
    for _ in range(BURSTS):
        time.sleep(0.1)
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for i in range(RUNS):
            runs[i % len(runs)]()
        end.record()
        torch.cuda.synchronize()
        seconds.append(start.elapsed_time(end) / 1e3 / RUNS)
    return statistics.median(seconds)


def replayed(runs):
    """The same with all runs in one CUDA graph: what is too short to be launched one by one."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for run in runs:
            run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for run in runs:
            run()
    return timed([graph.replay]) / len(runs)


def report(name, peer, seconds):
    print(f"{name}\t{peer}\t{seconds:.9f}", flush=True)


def sets(make, n=3):
    return [make() for _ in range(n)]


def chain(x):
    return torch.tanh(x * 0.5 + 1.0) * x + torch.exp(-x * x)


ELEMENTWISE = {
    "copy": lambda x: x * 1.0,
    "chain": chain,
    "row sum": lambda x: x.sum(-1),
    "column sum": lambda x: x.sum(0),
    "row max": lambda x: x.amax(-1),
    "argmax": lambda x: x.argmax(-1),
    "softmax": lambda x: torch.softmax(x, -1),
    "layer norm": lambda x: torch.nn.functional.layer_norm(x, (SIDE,)),
    "rms norm": lambda x: x * torch.rsqrt((x.float() * x.float()).mean(-1, keepdim=True) + 1e-5).to(x.dtype),
    "transpose": lambda x: x.t().contiguous(),
}


def memory_bound():
    for dtype, text in ((torch.float32, "f32"), (torch.bfloat16, "bf16")):
        data = sets(lambda: torch.randn(SIDE, SIDE, device="cuda", dtype=dtype))
        out = torch.empty_like(data[0])
        report(f"device copy {text}", "copy_", timed([lambda x=x: out.copy_(x) for x in data]))
        for name, fn in ELEMENTWISE.items():
            report(f"{name} {text}", "torch", timed([lambda x=x: fn(x) for x in data]))
            compiled = torch.compile(fn, dynamic=False)
            report(f"{name} {text}", "torch.compile", timed([lambda x=x: compiled(x) for x in data]))


def gemv():
    for n, k in ((10240, 2560), (2560, 10240), (262144, 2560), (2048, 2560)):
        count = max(2, (1 << 30) // (n * k * 2))
        w = sets(lambda: torch.randn(n, k, device="cuda", dtype=torch.bfloat16), count)
        x = torch.randn(k, device="cuda", dtype=torch.bfloat16)
        report(f"gemv bf16 {n}x{k}", "cuBLAS", replayed([lambda m=m: torch.mv(m, x) for m in w]))


def matmul():
    torch.backends.cuda.matmul.allow_tf32 = False
    for dtype, text in ((torch.float32, "f32"), (torch.bfloat16, "bf16"), (torch.float16, "f16")):
        for n in (2048, 4096, 8192):
            a = sets(lambda: torch.randn(n, n, device="cuda", dtype=dtype))
            b = sets(lambda: torch.randn(n, n, device="cuda", dtype=dtype))
            report(f"matmul {text} {n}", "cuBLAS", timed([lambda p=p: torch.mm(*p) for p in zip(a, b)]))


def main():
    parts = {"memory": memory_bound, "gemv": gemv, "matmul": matmul}
    for name in sys.argv[1:] or parts:
        if name in parts:      # else there is no peer
            parts[name]()


main()
