#!/usr/bin/env python3
"""The program's best processor lane against PyTorch on the same processor.

First both train from the same weights on the same batches, and their losses have to agree; only then are they timed,
in turn, several times. PyTorch gets its best configuration: OpenBLAS with OpenMP where that is installed (Debian:
libopenblas0-openmp), no settings that mislead it, and of one and all threads and of its own ways to compute an
optimizer those that are fastest here.

  pytorch_cpu.py                                     all workloads, one thread and all cores
  pytorch_cpu.py --workloads W --optimizers sgd --threads 1 --rounds 7 --json w.json
"""
import glob
import json
import os
import pathlib
import sys

from report import (LOSS_TOLERANCE, about_machine, amount, cores, in_turn, largest_difference, parser, print_table,
                    ratios, spread, try_row, two_digits, with_spread, write_json)
from program import Program, find_program, version
from workloads import OPTIMIZERS, PLAYGROUND_STEPS_PER_SECOND, WORKLOADS, settings, small, write_data


def start_again_in_best_environment():
    """Libraries read these once, when they are loaded."""
    if "LOCKSTEP_BENCH_BEFORE" in os.environ:
        return
    wanted = {"OPENBLAS_CORETYPE": None, "OPENBLAS_L2_SIZE": None}  # these mislead it
    for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        wanted[threads] = str(cores())
    for folder in glob.glob("/usr/lib/*/openblas-openmp"):
        wanted["LD_LIBRARY_PATH"] = ":".join([folder, *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])
    environment = {**os.environ, "LOCKSTEP_BENCH_BEFORE": json.dumps({key: os.environ.get(key) for key in wanted})}
    for key, value in wanted.items():
        environment.pop(key, None)
        if value is not None:
            environment[key] = value
    python = sys.executable or os.path.realpath("/proc/self/exe")  # Python does not know it without a PATH
    os.execve(python, [python, *sys.argv], environment)


def fastest(torch, training, workload, run_settings, data, weights, threads, seconds):
    """The number of threads and the optimizer's way that are fastest here, tried for a moment each."""
    best = None
    ways = {"": {}, "foreach": {"foreach": True}, "fused": {"fused": True}}
    for count in sorted({1, threads}):
        torch.set_num_threads(count)
        for name, how in ways.items():
            try:
                run = training(workload, run_settings, data, weights, how=how)
                speed = run.speed(seconds)
            except (TypeError, RuntimeError, ValueError):  # not in this version, or not on a processor
                continue
            if best is None or speed > best[0]:
                best = (speed, count, name, how)
    return best[1:]


def compare(row, torch, training, arguments, program_path, workload, optimizer, threads, weights_file, weights):
    """Fills one row: a dictionary, as it stands in the JSON."""
    run_settings = settings(workload, optimizer)
    spec = write_data(workload, arguments.folder)
    import torch_training
    data = torch_training.read_data(workload, spec)
    program = Program(program_path, workload, spec, run_settings, arguments.lane, threads)
    torch.set_num_threads(threads)
    expected = training(workload, run_settings, data, weights).losses_in_file_order(workload.checked_steps)
    difference = largest_difference(program.losses(weights_file, workload.checked_steps), expected)
    row.update(kernels=program.lane["kernels"], program_threads=program.lane["threads"],
               checked_steps=workload.checked_steps, largest_difference=difference,
               verified=difference <= LOSS_TOLERANCE)
    if not row["verified"]:
        return
    count, way, how = fastest(torch, training, workload, run_settings, data, weights, threads,
                              arguments.seconds / 4)
    torch.set_num_threads(count)
    opponent = training(workload, run_settings, data, weights, how=how)
    row["pytorch_threads"], row["pytorch_optimizer"] = count, way or "default"
    ours, theirs = in_turn([lambda: program.speed(arguments.seconds), lambda: opponent.speed(arguments.seconds)],
                           arguments.rounds)
    row.update(program=spread(ours), pytorch=spread(theirs), ratio=ratios(ours, theirs),
               program_steps_per_second=spread(ours)["median"] / workload.batch,
               gflops=spread(ours)["median"] * workload.flops_per_example * 1e-9)
    if workload.name == "W-tiny":
        row["playground_ratio"] = row["program_steps_per_second"] / PLAYGROUND_STEPS_PER_SECOND


def cells(row):
    name = [row["workload"], row["optimizer"], row["threads"]]
    if "error" in row:
        return name + [row["error"].splitlines()[-1][:60], "", "", "", ""]
    if not row["verified"]:
        return name + [f"DIFFERS by {row['largest_difference']:.1e}: not timed", "", "", "", ""]
    pytorch = f"{with_spread(row['pytorch'])}, {row['pytorch_threads']} threads, {row['pytorch_optimizer']}"
    return name + [with_spread(row["program"]), amount(row["program_steps_per_second"]), pytorch,
                   with_spread(row["ratio"], two_digits), f"{row['largest_difference']:.0e}"]


def read_arguments():
    options = parser(__doc__)
    options.add_argument("--workloads", default="W,W-big,W-tiny")
    options.add_argument("--optimizers", default=",".join(OPTIMIZERS))
    options.add_argument("--threads", default="1,all", help="of both sides: numbers, or all [1,all]")
    options.add_argument("--lane", default="cpu:best", help="[cpu:best]")
    return options.parse_args()


def main():
    arguments = read_arguments()
    start_again_in_best_environment()
    try:
        import torch
    except ImportError as error:
        print(f"not measured: this Python has no PyTorch ({error}); on Debian: "
              "apt-get install python3-torch libopenblas0-openmp")
        return 0
    import torch_training
    program_path = find_program(arguments.program)
    machine = about_machine()
    print(f"{machine['processor']}, {machine['cores']} cores, load {machine['load']:.2f}, {machine['date']}; "
          f"{version(program_path)}; PyTorch {torch.__version__}, "
          f"{os.environ.get('LD_LIBRARY_PATH', 'its own libraries')}")
    pathlib.Path(arguments.folder).mkdir(parents=True, exist_ok=True)
    threads = sorted({cores() if count == "all" else int(count) for count in arguments.threads.split(",")})
    rows = []
    for name in arguments.workloads.split(","):
        workload = small(WORKLOADS[name]) if arguments.small else WORKLOADS[name]
        weights = torch_training.initial_weights(workload)
        weights_file = pathlib.Path(arguments.folder) / f"{name}.safetensors"
        torch_training.write_weights(weights_file, weights)
        for optimizer in arguments.optimizers.split(","):
            for count in threads:
                print(f"{name}, {optimizer}, {count} threads ...", file=sys.stderr, flush=True)
                row = {"workload": name, "optimizer": optimizer, "threads": count, "lane": arguments.lane}
                rows.append(try_row(row, lambda row: compare(
                    row, torch, torch_training.Training, arguments, program_path, workload, optimizer, count,
                    weights_file, weights)))
    print_table(["workload", "optimizer", "threads", f"{arguments.lane}, samples/s", "steps/s", "PyTorch, samples/s",
                 "ratio", "loss difference"], [cells(row) for row in rows])
    if any("playground_ratio" in row for row in rows):
        print(f"TensorFlow Playground: {PLAYGROUND_STEPS_PER_SECOND:,} steps/s (its own code on a Zen 5 core, not "
              "measured here)")
    write_json(arguments.json, {**machine, "program": version(program_path), "pytorch": torch.__version__,
                                "rows": rows})
    return 0 if all(row.get("verified") and "error" not in row for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
