#!/usr/bin/env python3
"""What ranks gain and cost: one network trained by 1, 2 and 4 ranks, as threads and as processes, with the whole batch
shared (strong scaling) and with a batch per rank (weak), and how much of the exchange is hidden behind computing. Each
configuration runs in turn, round after round; medians are printed. The losses of the first steps have to agree."""
import argparse
import json
import shutil
import statistics
import subprocess
import sys

from program import find_program

MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
WORKLOADS = {"W": ("256,128", 128), "W-wide": ("1024,1024,1024", 256)}


def train(program, ranks, launcher, workload, batch, seconds, options):
    """The lane's results, of one rank alone or of several: threads of one process, or processes of mpirun."""
    command = MPIRUN + ["-n", str(ranks)] if launcher == "processes" else []
    command += [str(program), "train", "--data", "fashion-mnist", "--layers", workload, "--batch", str(batch), "--quiet",
                "--evaluate-every", "0", "--json", "-", *options]
    command += ["--parallel", "data"] if ranks > 1 else []
    command += ["--ranks", str(ranks)] if ranks > 1 and launcher == "threads" else []
    done = subprocess.run(command + seconds, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)["lanes"][0]


def check(program, lane):
    """Largest relative difference of the first losses from those of one rank."""
    options, steps = ["--lane", lane, "--threads", "1", "--log-every", "1"], ["--steps", "50"]
    losses = [[step["loss"] for step in train(program, ranks, "threads", "256,128", 128, steps, options)["steps"]]
              for ranks in (1, 2, 4)]
    return max(abs(a - b) / max(a, b) for other in losses[1:] for a, b in zip(losses[0][:10], other[:10]))


def per_step(lane, names):
    """Milliseconds of these operations in a step."""
    operations = {each["name"]: each for each in lane["operations"]}
    steps = operations["gather_batch"]["calls"]
    return sum(operations[name]["milliseconds"] for name in names if name in operations) / steps


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", help="the program, or the folder of a build or a bundle")
    parser.add_argument("--lane", default="cpu:best", help="what every rank computes with [cpu:best]")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2, help="of each run")
    parser.add_argument("--json", help="write everything to this file")
    parser.add_argument("--small", action="store_true", help="only test that everything runs")
    arguments = parser.parse_args()
    if arguments.small:
        arguments.rounds, arguments.seconds = 1, 0.2
    program = find_program(arguments.program)
    seconds = ["--seconds", str(arguments.seconds)]
    launchers = ["threads"] + (["processes"] if shutil.which("mpirun") else [])
    if len(launchers) == 1:
        print("processes: not measured (no mpirun; Debian: openmpi-bin)")
    print(f"losses of 1, 2 and 4 ranks differ by {check(program, arguments.lane):.1g} at most, over 10 steps")

    one = ["--lane", arguments.lane, "--threads", "1"]
    runs = []  # name, then what train() takes
    for name, (layers, batch) in WORKLOADS.items():
        runs.append((f"{name}, alone, all cores", 1, "threads", layers, batch, ["--lane", arguments.lane]))
        runs.append((f"{name}, alone, one thread", 1, "threads", layers, batch, one))
        for launcher in launchers:
            for ranks in (2, 4):
                runs.append((f"{name}, {ranks} {launcher}, batch {batch} shared", ranks, launcher, layers, batch, one))
            runs.append((f"{name}, 2 {launcher}, batch {batch} each", 2, launcher, layers, 2 * batch, one))
        runs.append((f"{name}, 2 threads, without overlap", 2, "threads", layers, batch, one + ["--overlap", "off"]))
        for form in ("fp16", "top-k"):
            runs.append((f"{name}, 2 threads, {form}", 2, "threads", layers, batch, one + ["--exchange", form]))
    lanes = {name: [] for name, *_ in runs}
    for _ in range(arguments.rounds):
        for name, ranks, launcher, layers, batch, options in runs:
            lanes[name].append(train(program, ranks, launcher, layers, batch, seconds, options))

    print(f"\n{'':44}{'samples/s':>12}{'exchange, waited for, ms/step':>32}")
    table = []
    for name in lanes:
        rate = statistics.median(lane["samples_per_second"] for lane in lanes[name])
        waited = None
        if " alone" not in name:
            waited = statistics.median(per_step(lane, ("exchange", "await_exchange", "gather_parameters")) for lane in lanes[name])
        table.append({"name": name, "samples_per_second": rate, "waited_ms_per_step": waited,
                      "all": [lane["samples_per_second"] for lane in lanes[name]]})
        print(f"{name:44}{rate:>12,.0f}" + (f"{waited:>32.3f}" if waited is not None else ""))
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"program": str(program), "lane": arguments.lane, "table": table}, file, indent=1)


if __name__ == "__main__":
    main()
