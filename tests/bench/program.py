"""Runs the program `lockstep` for a comparison: once for the losses of its first steps, then again and again for its
speed. All that is measured comes from its own JSON results (docs/json.md)."""
import json
import os
import pathlib
import subprocess
import sys


def find_program(named=None):
    """The program in the folder or file `named`, or in the build or bundle that this file is part of."""
    top = pathlib.Path(__file__).resolve().parents[2]
    places = [pathlib.Path(named)] if named else [top / "build/release", top]
    for place in places:
        for file in (place, place / "demos/lockstep", place / "bin/lockstep"):
            if file.is_file() and os.access(file, os.X_OK):
                return file.resolve()
    sys.exit(f"no program `lockstep` in {' or '.join(map(str, places))}: build it first, or name it with --program")


def environment_before():
    """The environment as it was before a comparison set up PyTorch's libraries and threads: those are not the
    program's. What was changed is noted in LOCKSTEP_BENCH_BEFORE (see pytorch_cpu.py)."""
    environment = dict(os.environ)
    for key, value in json.loads(environment.pop("LOCKSTEP_BENCH_BEFORE", "{}")).items():
        environment.pop(key, None)
        if value is not None:
            environment[key] = value
    return environment


class ProgramError(RuntimeError):
    """The program could not do it: its own words."""


class Program:
    """`lane` as on the command line ("cpu:best"); `threads` 0 for one per core; `device` of GPU lanes, may be None."""

    def __init__(self, path, workload, data, settings, lane="cpu:best", threads=0, device=None):
        self.path, self.workload, self.settings = path, workload, settings
        self.command = [str(path), "train", "--data", data, "--test-share", "0", "--lane", lane]
        self.command += ["--layers", ",".join(map(str, workload.widths[1:-1])), "--activation", workload.activation]
        self.command += ["--loss", workload.loss, "--optimizer", settings["optimizer"], "--lr", str(settings["lr"])]
        self.command += ["--batch", str(workload.batch), "--evaluate-every", "0", "--quiet", "--json", "-"]
        self.command += ["--threads", str(threads)] if threads else []
        self.command += ["--device", device] if device else []
        self.lane = {}  # of the last run: device, threads, kernels, ...

    def run(self, *options):
        done = subprocess.run(self.command + list(options), capture_output=True, text=True, env=environment_before())
        if done.returncode != 0:
            raise ProgramError(f"{' '.join(self.command + list(options))}\n{done.stderr.strip()}")
        result = json.loads(done.stdout)
        self.lane = result["lanes"][0]
        if self.lane["status"] != "finished":
            raise ProgramError(self.lane["message"])
        return self.lane

    def losses(self, weights, steps):
        """Every step's loss, from these weights (a file) on, examples in file order."""
        lane = self.run("--init", str(weights), "--no-shuffle", "--steps", str(steps), "--log-every", "1")
        return [point["loss"] for point in lane["steps"]]

    def speed(self, seconds):
        """Samples per second of `seconds` of training, examples shuffled, warm-up not counted."""
        return self.run("--seconds", str(seconds))["samples_per_second"]


def version(path):
    return subprocess.run([str(path), "--version"], capture_output=True, text=True).stdout.strip()
