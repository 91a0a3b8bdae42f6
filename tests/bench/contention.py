#!/usr/bin/env python3
"""What is left of the processor's best lane when another process takes one of two cores.

The program runs on two cores in turn alone and beside a process that does nothing but count, bound to one of them. A
team of threads that waits for its slowest member at every barrier is easily left with a tenth; half is what one core
has to offer, and a fair scheduler gives the program some of the other one, too.

  contention.py [--workloads W] [--optimizers sgd] [--lane cpu:best] [--rounds 5] [--seconds 2]
"""
import os
import subprocess
import sys

from program import Program, find_program, version
from report import (about_machine, cores, in_turn, parser, print_table, ratios, spread, try_row, two_digits, with_spread,
                    write_json)
from workloads import OPTIMIZERS, WORKLOADS, settings, small, write_data


class Busy:
    """A process that takes a core, as long as the block lasts."""

    def __init__(self, core):
        self.core = core

    def __enter__(self):
        self.process = subprocess.Popen([sys.executable or "/proc/self/exe", "-c", "while True: pass"])
        os.sched_setaffinity(self.process.pid, {self.core})

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def compare(row, program, core, arguments):
    def contended():
        with Busy(core):
            return program.speed(arguments.seconds)

    quiet, shared = in_turn([lambda: program.speed(arguments.seconds), contended], arguments.rounds)
    row.update(threads=program.lane["threads"], quiet=spread(quiet), contended=spread(shared),
               share=ratios(shared, quiet))


def cells(row):
    name = [row["workload"], row["optimizer"]]
    if "error" in row:
        return name + [row["error"].splitlines()[-1][:60], "", "", ""]
    return name + [row["threads"], with_spread(row["quiet"]), with_spread(row["contended"]),
                   with_spread(row["share"], two_digits)]


def main():
    options = parser(__doc__)
    options.add_argument("--workloads", default="W,W-big")
    options.add_argument("--optimizers", default=",".join(OPTIMIZERS))
    options.add_argument("--lane", default="cpu:best", help="[cpu:best]")
    arguments = options.parse_args()
    if not hasattr(os, "sched_setaffinity") or cores() < 2:
        print("not measured: this takes two cores, and a system that binds processes to them (Linux)")
        return 0
    pair = sorted(os.sched_getaffinity(0))[:2]
    os.sched_setaffinity(0, pair)  # and so of all that is started from here
    program_path = find_program(arguments.program)
    machine = about_machine()
    print(f"{machine['processor']}, cores {pair[0]} and {pair[1]}, load {machine['load']:.2f}, {machine['date']}; "
          f"{version(program_path)}")
    rows = []
    for name in arguments.workloads.split(","):
        workload = small(WORKLOADS[name]) if arguments.small else WORKLOADS[name]
        for optimizer in arguments.optimizers.split(","):
            program = Program(program_path, workload, write_data(workload, arguments.folder),
                              settings(workload, optimizer), arguments.lane, threads=2)
            rows.append(try_row({"workload": name, "optimizer": optimizer},
                                lambda row: compare(row, program, pair[0], arguments)))
    print_table(["workload", "optimizer", "threads", "alone, samples/s", "one core taken", "share kept"],
                [cells(row) for row in rows])
    write_json(arguments.json, {**machine, "program": version(program_path), "lane": arguments.lane, "rows": rows})
    return 0 if all("error" not in row for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
