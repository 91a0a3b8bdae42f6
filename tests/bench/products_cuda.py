#!/usr/bin/env python3
"""The products of a training step, in the program's steps and alone by cuBLAS (torch.mm, 32 bits, TF32 off), and a copy.

The program's numbers are device timestamps of its operations while it trains, bias and activation included; cuBLAS's
are products and nothing else, repeated in a CUDA graph so that no launch counts. Before that, the program's losses are
compared with PyTorch's, and cuBLAS's products with products in 64 bits (which also shows that TF32 is off).

  products_cuda.py [--workloads W,W-big,W-wide] [--device NVIDIA] [--json products.json]
"""
import sys

from pytorch_cuda import Case, check, note_device, require_exact_floats
from program import find_program, version
from report import (LOSS_TOLERANCE, about_machine, in_turn, parser, print_table, ratios, spread, try_row, two_digits,
                    with_spread, write_json)

OPERATIONS = ("dense", "dense_backward_inputs", "dense_backward_weights")
PRODUCT_TOLERANCE = 1e-4  # relative to the largest element; TF32 is ten times as far off


def products(workload, operation, torch):
    """(a, b) of every product of an operation over all layers: what PyTorch's own backward pass multiplies."""
    for layer, (inputs, outputs) in enumerate(zip(workload.widths, workload.widths[1:])):
        x = torch.randn(workload.batch, inputs, device="cuda")
        w = torch.randn(outputs, inputs, device="cuda")
        d = torch.randn(workload.batch, outputs, device="cuda")
        if operation == "dense":
            yield x, w.t()
        elif operation == "dense_backward_weights":
            yield d.t(), x
        elif layer > 0:
            yield d, w


def cublas(workload, operation, torch):
    """A function from seconds to GFLOP/s, after its products were checked."""
    pairs = list(products(workload, operation, torch))
    results = [torch.empty(a.shape[0], b.shape[1], device="cuda") for a, b in pairs]
    flops = sum(2 * a.shape[0] * a.shape[1] * b.shape[1] for a, b in pairs)
    repeats = max(1, min(50, int(2e11 / flops)))

    def multiply():
        for (a, b), result in zip(pairs, results):
            torch.mm(a, b, out=result)

    multiply()
    for (a, b), result in zip(pairs, results):
        exact = a[:64].double() @ b.double()
        difference = ((result[:64].double() - exact).abs().max() / exact.abs().max()).item()
        if not difference <= PRODUCT_TOLERANCE:
            raise RuntimeError(f"torch.mm is off by {difference:.1e} (is TF32 on?)")
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(repeats):
            multiply()

    def speed(seconds):
        graph.replay()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        calls, passed = 1, 0.0
        while True:
            begin.record()
            for _ in range(calls):
                graph.replay()
            end.record()
            torch.cuda.synchronize()
            passed = begin.elapsed_time(end) * 1e-3
            if passed >= seconds:
                return flops * repeats * calls / passed * 1e-9
            calls = max(calls + 1, int(calls * 1.2 * seconds / max(passed, 1e-6)))

    speed.operands = pairs, results  # the graph knows only their addresses
    return speed


def operation_speed(program, operation, seconds):
    """GFLOP/s of an operation in the program's training steps."""
    program.speed(seconds)
    for timing in program.lane["operations"]:
        if timing["name"] == operation:
            return timing["flops"] / timing["milliseconds"] * 1e-6
    raise RuntimeError(f"the program timed no {operation}")


def compare(row, case, operation, torch):
    program = case.program("gpu:best")
    losses = program.losses(case.weights_file, case.checked_steps)
    note_device(row, program)
    if not check(row, case, {"program": losses}, case.eager().losses_in_file_order(case.checked_steps),
                 LOSS_TOLERANCE):
        return
    library = cublas(case.workload, operation, torch)
    seconds = case.arguments.seconds
    ours, theirs = in_turn([lambda: operation_speed(program, operation, seconds), lambda: library(seconds)],
                           case.arguments.rounds)
    row.update(program=spread(ours), cublas=spread(theirs), ratio=ratios(ours, theirs))


def copy_bandwidth(torch):
    """GB/s, read and written."""
    source = torch.zeros(1 << 28, device="cuda")  # 1 GiB
    target = torch.empty_like(source)
    best = 0.0
    for _ in range(20):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        target.copy_(source)
        end.record()
        torch.cuda.synchronize()
        best = max(best, 2 * source.numel() * 4 / begin.elapsed_time(end) * 1e-6)
    return best


def cells(row):
    name = [row["workload"], row["operation"]]
    if "error" in row:
        return name + [row["error"].splitlines()[-1][:80], "", ""]
    if not row["verified"]:
        return name + ["DIFFERS: not timed", "", ""]
    return name + [with_spread(row["program"], two_digits), with_spread(row["cublas"], two_digits),
                   with_spread(row["ratio"], two_digits)]


def main():
    options = parser(__doc__, rounds=3, seconds=1.0)
    options.add_argument("--workloads", default="W,W-big,W-wide")
    options.add_argument("--device", help="Vulkan device of the program: number, part of its name, or UUID")
    arguments = options.parse_args()
    try:
        import torch
    except ImportError as error:
        print(f"not measured: this Python has no PyTorch ({error})")
        return 0
    if not torch.cuda.is_available():
        print(f"not measured: PyTorch {torch.__version__} sees no CUDA card")
        return 0
    require_exact_floats(torch)
    program_path = find_program(arguments.program)
    rows = []
    for name in arguments.workloads.split(","):
        for operation in OPERATIONS:
            print(f"{name}, {operation} ...", file=sys.stderr, flush=True)
            rows.append(try_row({"workload": name, "operation": operation}, lambda row: compare(
                row, Case(arguments, program_path, name, "sgd"), operation, torch)))
    print(f"{torch.cuda.get_device_name()}, {version(program_path)}, PyTorch {torch.__version__}, GFLOP/s")
    print_table(["workload", "operation", "gpu:best, in a step", "cuBLAS, alone", "ratio"],
                [cells(row) for row in rows])
    for device in sorted({row["program_device"] for row in rows if "program_device" in row}):
        print(f"the program's lane: {device}")
    bandwidth = copy_bandwidth(torch)
    print(f"copy: {bandwidth:.0f} GB/s, read and written")
    write_json(arguments.json, {**about_machine(), "card": torch.cuda.get_device_name(),
                                "copy_gigabytes_per_second": bandwidth, "rows": rows})
    return 0 if all(row.get("verified") and "error" not in row for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
