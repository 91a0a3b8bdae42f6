#!/usr/bin/env python3
"""The program's best GPU lane against PyTorch with CUDA on the same card.

First all train from the same weights on the same batches, and their losses have to agree; only then are they timed, in
turn, several times: the program, PyTorch step by step ("eager"), and PyTorch with its steps recorded as CUDA graphs.
Everything computes in 32 bits, TF32 off. What PyTorch does in mixed precision (bfloat16) is reported apart, beside the
program's lanes of half precision, gpu:half and gpu:matrix, where the card has them, and PyTorch in 32 bits once more.

  pytorch_cuda.py                                    all workloads
  pytorch_cuda.py --workloads W --optimizers sgd --device NVIDIA --json w.json
"""
import pathlib
import sys

from program import Program, ProgramError, find_program, version
from report import (LOSS_TOLERANCE, about_machine, amount, in_turn, largest_difference, parser, print_table, ratios,
                    spread, try_row, two_digits, with_spread, write_json)
from workloads import OPTIMIZERS, WORKLOADS, settings, small, write_data

HALF_TOLERANCE = 5e-2  # relative; losses of products in 16 bits
HALF_LANES = ("gpu:half", "gpu:matrix")


def require_exact_floats(torch):
    torch.set_float32_matmul_precision("highest")  # no TF32; products_cuda.py sees whether it helps


def fastest(make, seconds):
    """`make(how)` with PyTorch's default optimizer or its newer `fused` one, whichever is faster here."""
    best, failure = None, None
    for how in ({"fused": True}, {}):
        try:
            speed = make(how).speed(seconds)
        except (TypeError, RuntimeError) as error:  # not in this version, or not on this card
            failure = error
            continue
        if best is None or speed > best[0]:
            best = (speed, how)
    if best is None:
        raise failure
    return make(best[1])


class Case:
    """A workload and an optimizer, with what all rows about them need."""

    def __init__(self, arguments, program_path, name, optimizer):
        import torch_training
        self.arguments, self.program_path = arguments, program_path
        self.workload = small(WORKLOADS[name]) if arguments.small else WORKLOADS[name]
        self.settings = settings(self.workload, optimizer)
        self.spec = write_data(self.workload, arguments.folder)
        self.data = torch_training.read_data(self.workload, self.spec)
        self.weights = torch_training.initial_weights(self.workload)
        self.weights_file = pathlib.Path(arguments.folder) / f"{name}.safetensors"
        torch_training.write_weights(self.weights_file, self.weights)
        self.checked_steps = min(self.workload.checked_steps, self.workload.examples // self.workload.batch)

    def program(self, lane):
        return Program(self.program_path, self.workload, self.spec, self.settings, lane,
                       device=self.arguments.device)

    def eager(self, amp=None):
        from torch_training import Training
        return fastest(lambda how: Training(self.workload, self.settings, self.data, self.weights, "cuda", how, amp),
                       self.arguments.seconds / 4)

    def graphs(self, amp=None):
        from torch_graphs import GraphTraining
        return fastest(lambda how: GraphTraining(self.workload, self.settings, self.data, self.weights, how, amp),
                       self.arguments.seconds / 4)


def check(row, case, sides, expected, tolerance):
    """`sides`: name -> losses of the first steps. All have to agree with `expected`."""
    row["checked_steps"] = case.checked_steps
    row["differences"] = {name: largest_difference(losses, expected) for name, losses in sides.items()}
    row["verified"] = all(difference <= tolerance for difference in row["differences"].values())
    return row["verified"]


def measure(row, case, sides):
    """`sides`: name -> function from seconds to samples per second; the first is the program."""
    names = list(sides)
    speeds = in_turn([lambda side=side: side(case.arguments.seconds) for side in sides.values()],
                     case.arguments.rounds)
    row["samples_per_second"] = {name: spread(speed) for name, speed in zip(names, speeds)}
    row["ratios"] = {name: ratios(speeds[0], speed) for name, speed in zip(names[1:], speeds[1:])}
    row["gflops"] = row["samples_per_second"][names[0]]["median"] * case.workload.flops_per_example * 1e-9


def note_device(row, program):
    """Which device the program's lane ran on: it chooses among Vulkan's, PyTorch among CUDA's."""
    row["program_device"] = program.lane["device"] + (", software, not a GPU" if program.lane["software"] else "")
    row["driver"], row["kernels"] = program.lane["driver"], program.lane["kernels"]


def compare_in_32_bits(row, case):
    program = case.program("gpu:best")
    losses = program.losses(case.weights_file, case.checked_steps)
    note_device(row, program)
    eager = case.eager()
    expected = eager.losses_in_file_order(case.checked_steps)
    graphs = case.graphs()
    if check(row, case, {"program": losses, "CUDA graphs": graphs.losses_in_file_order(case.checked_steps)}, expected,
             LOSS_TOLERANCE):
        measure(row, case, {"program": program.speed, "eager": eager.speed, "CUDA graphs": graphs.speed})


def compare_in_16_bits(row, case, bfloat16):
    eager, exact = case.eager(bfloat16), case.eager()
    expected = exact.losses_in_file_order(case.checked_steps)
    graphs = case.graphs(bfloat16)
    losses = {"eager": eager.losses_in_file_order(case.checked_steps),
              "CUDA graphs": graphs.losses_in_file_order(case.checked_steps)}
    sides = {"eager": eager.speed, "CUDA graphs": graphs.speed, "eager, 32 bits": exact.speed}
    program = case.program(row["precision"])
    try:
        losses = {"program": program.losses(case.weights_file, case.checked_steps), **losses}
        sides = {"program": program.speed, **sides}
        note_device(row, program)
    except ProgramError as error:  # this version has no such lane, or not on this card
        row["program"] = f"not measured: {str(error).splitlines()[-1]}"
    if check(row, case, losses, expected, HALF_TOLERANCE):
        measure(row, case, sides)


def sides_beside(precision):
    return ("eager", "CUDA graphs") + (("eager, 32 bits",) if precision in HALF_LANES else ())


def header(precision):
    lane = precision if precision in HALF_LANES else "gpu:best"
    others = sides_beside(precision)
    return (["workload", "optimizer", "precision", f"{lane}, samples/s", *(f"PyTorch {side}" for side in others),
             *(f"ratio to {side}" for side in others), "loss difference"])


def cells(row):
    name = [row["workload"], row["optimizer"], row["precision"]]
    if "error" in row:
        return name + [row["error"].splitlines()[-1][:80]] + [""] * (len(header(row["precision"])) - 4)
    worst = max(row["differences"].values())
    if not row["verified"]:
        return name + [f"DIFFERS by {worst:.1e}: not timed"] + [""] * (len(header(row["precision"])) - 4)
    speeds, found = row["samples_per_second"], row["ratios"]
    others = sides_beside(row["precision"])
    speed = [with_spread(speeds[side]) if side in speeds else "not measured" for side in ("program", *others)]
    ratio = [with_spread(found[side], two_digits) if "program" in speeds else "-" for side in others]
    return name + speed + ratio + [f"{worst:.0e}"]


def read_arguments():
    options = parser(__doc__)
    options.add_argument("--workloads", default="W,W-big,W-wide,W-tiny")
    options.add_argument("--optimizers", default=",".join(OPTIMIZERS))
    options.add_argument("--device", help="Vulkan device of the program: number, part of its name, or UUID")
    return options.parse_args()


def main():
    arguments = read_arguments()
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
    machine = {**about_machine(), "card": torch.cuda.get_device_name(), "pytorch": torch.__version__,
               "cuda": torch.version.cuda, "program": version(program_path)}
    print(f"{machine['card']}, {machine['date']}; {machine['program']}; PyTorch {torch.__version__}, CUDA "
          f"{torch.version.cuda}, TF32 off")
    pathlib.Path(arguments.folder).mkdir(parents=True, exist_ok=True)
    rows = []
    for name in arguments.workloads.split(","):
        for optimizer in arguments.optimizers.split(","):
            print(f"{name}, {optimizer} ...", file=sys.stderr, flush=True)
            row = {"workload": name, "optimizer": optimizer, "precision": "32 bits"}
            rows.append(try_row(row, lambda row: compare_in_32_bits(
                row, Case(arguments, program_path, name, optimizer))))
            for lane in HALF_LANES:
                row = {"workload": name, "optimizer": optimizer, "precision": lane}
                rows.append(try_row(row, lambda row: compare_in_16_bits(
                    row, Case(arguments, program_path, name, optimizer), torch.bfloat16)))
            torch.cuda.empty_cache()
            write_json(arguments.json, {**machine, "rows": rows})  # a run cut short keeps what it has
    for precision in ("32 bits", *HALF_LANES):
        print(f"\n{precision}\n")
        print_table(header(precision), [cells(row) for row in rows if row["precision"] == precision])
        for device in sorted({row["program_device"] for row in rows if "program_device" in row}):
            print(f"the program's lanes: {device}")
    return 0 if all(row.get("verified") and "error" not in row for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
