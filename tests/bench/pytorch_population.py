#!/usr/bin/env python3
"""A population of small networks: the program's lanes against batched PyTorch (baddbmm over the networks) on the same
machine.

Both train the same networks 2-8-8-1 on the same data, with rates of their own. First their losses from the same first
weights on the same batches have to agree; only then are they timed, in turn, several times. PyTorch computes its
gradients itself (autograd) or by the formulas of a multi-layer perceptron written out, on one core or all of them,
whichever is fastest here; with --cuda also on the card, step by step and as CUDA graphs of several steps.

  pytorch_population.py                              the processor, all cores
  pytorch_population.py --cuda --lanes gpu:best,cpu:best --json population.json
"""
import json
import os
import pathlib
import subprocess
import sys
import time

from program import environment_before
from pytorch_cpu import start_again_in_best_environment
from report import (LOSS_TOLERANCE, about_machine, cores, in_turn, parser, print_table, ratios, spread,
                    two_digits, with_spread, write_json)


def find_speed_program(named=None):
    top = pathlib.Path(__file__).resolve().parents[2]
    places = [pathlib.Path(named)] if named else [top / "build/release", top]
    for place in places:
        for file in (place, place / "tests/bench/population_speed", place / "population_speed"):
            if file.is_file() and os.access(file, os.X_OK):
                return file.resolve()
    sys.exit(f"no program `population_speed` in {' or '.join(map(str, places))}: build it first, or name it with "
             "--program")


class SpeedProgram:
    def __init__(self, path, arguments):
        self.options = [str(path), "--members", str(arguments.members), "--batch", str(arguments.batch)]
        self.options += ["--device", arguments.device] if arguments.device else []
        self.folder = pathlib.Path(arguments.folder)
        self.lane = {}  # lane -> its row of the last run

    def run(self, *options):
        subprocess.run([*self.options, *options], check=True, stdout=subprocess.DEVNULL, env=environment_before())

    def exchange(self):
        file = self.folder / "population.json"
        self.run("--lanes", "cpu:best", "--rounds", "1", "--seconds", "0.01", "--exchange", str(file))
        return json.loads(file.read_text())

    def speed(self, lane, seconds):
        """Network-steps per second; raises when the lane is not there or computes something else."""
        file = self.folder / "population-speed.json"
        self.run("--lanes", lane, "--rounds", "1", "--seconds", str(seconds), "--steps", "20", "--json", str(file))
        self.lane[lane] = json.loads(file.read_text())["lanes"][0]
        if "not_measured" in self.lane[lane]:
            raise RuntimeError(self.lane[lane]["not_measured"])
        return self.lane[lane]["network_steps_per_second"]["median"]


class Population:
    """`networks` networks side by side: weights [networks][inputs][outputs], one baddbmm per layer for all of them.
    tanh, mean squared error, plain SGD; all networks see the same batches."""

    steps_per_call = 1

    def __init__(self, torch, given, device, by_hand, threads=0):
        self.torch, self.device, self.by_hand = torch, torch.device(device), by_hand
        self.threads = threads or cores()
        self.batch, self.networks = given["batch"], len(given["members"])
        widths = given["widths"]
        flat = torch.tensor([member["weights"] for member in given["members"]])
        self.layers, at = [], 0
        for inputs, outputs in zip(widths, widths[1:]):
            weight = flat[:, at:at + inputs * outputs].reshape(-1, outputs, inputs).transpose(1, 2).contiguous()
            at += inputs * outputs
            bias = flat[:, at:at + outputs].reshape(-1, 1, outputs).contiguous()
            at += outputs
            self.layers.append((weight.to(self.device), bias.to(self.device)))
        self.first = [[tensor.clone() for tensor in layer] for layer in self.layers]
        if not by_hand:
            for layer in self.layers:
                for tensor in layer:
                    tensor.requires_grad_(True)
        self.rates = torch.tensor([member["rate"] for member in given["members"]]).reshape(-1, 1, 1).to(self.device)
        self.inputs = torch.tensor(given["values"]).reshape(-1, widths[0]).to(self.device)
        self.targets = (2 * torch.tensor(given["labels"], dtype=torch.float32) - 1).reshape(-1, 1).to(self.device)
        self.order = torch.cat([torch.randperm(len(self.inputs)) for _ in range(64)]).to(self.device)
        self.position = 0

    def start_over(self):
        with self.torch.no_grad():
            for layer, first in zip(self.layers, self.first):
                for tensor, value in zip(layer, first):
                    tensor.copy_(value)

    def forward(self, inputs):
        """The activations of all layers, [networks][batch][width]."""
        outputs = [inputs.expand(self.networks, -1, -1)]
        for number, (weight, bias) in enumerate(self.layers):
            sums = self.torch.baddbmm(bias, outputs[-1], weight)
            outputs.append(sums if number + 1 == len(self.layers) else self.torch.tanh(sums))
        return outputs

    def train(self, chosen):
        """One step on these examples; returns the loss of every network."""
        inputs, targets = self.inputs.index_select(0, chosen), self.targets.index_select(0, chosen)
        return (self.train_by_hand if self.by_hand else self.train_by_autograd)(inputs, targets)

    def train_by_autograd(self, inputs, targets):
        parameters = [tensor for layer in self.layers for tensor in layer]
        losses = (self.forward(inputs)[-1] - targets).square().mean((1, 2))
        gradients = self.torch.autograd.grad(losses.sum(), parameters)
        with self.torch.no_grad():
            for parameter, gradient in zip(parameters, gradients):
                parameter.addcmul_(self.rates, gradient, value=-1)
        return losses.detach()

    def train_by_hand(self, inputs, targets):
        with self.torch.no_grad():
            outputs = self.forward(inputs)
            difference = outputs[-1] - targets
            d_sums = difference * (2 / targets.numel())
            for number in reversed(range(len(self.layers))):
                weight, bias = self.layers[number]
                below = outputs[number]
                d_weight, d_bias = self.torch.bmm(below.transpose(1, 2), d_sums), d_sums.sum(1, keepdim=True)
                if number > 0:
                    d_sums = self.torch.bmm(d_sums, weight.transpose(1, 2)) * (1 - below * below)
                weight.addcmul_(self.rates, d_weight, value=-1)
                bias.addcmul_(self.rates, d_bias, value=-1)
            return difference.square().mean((1, 2))

    def next_examples(self, count):
        if self.position + count > len(self.order):
            self.position = 0
        self.position += count
        return self.order[self.position - count:self.position]

    def step(self):
        self.train(self.next_examples(self.batch))

    def losses_in_file_order(self, steps):
        self.start_over()
        found = []
        for step in range(steps):
            first = step * self.batch % len(self.inputs)
            chosen = self.torch.arange(first, min(first + self.batch, len(self.inputs)), device=self.device)
            found.append(self.train(chosen).cpu())
        return self.torch.stack(found)

    def wait(self):
        if self.device.type == "cuda":
            self.torch.cuda.synchronize()

    def speed(self, seconds):
        """Network-steps per second."""
        self.torch.set_num_threads(self.threads)
        self.start_over()
        for _ in range(3):
            self.step()
        self.wait()
        steps, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            for _ in range(10):
                self.step()
            self.wait()
            steps += 10 * self.steps_per_call
        return steps * self.networks / (time.perf_counter() - start)


class GraphPopulation(Population):
    """Several steps recorded as one CUDA graph."""

    steps_per_call = 20

    def __init__(self, torch, given, by_hand):
        super().__init__(torch, given, "cuda", by_hand)
        self.chosen = torch.zeros(self.steps_per_call * self.batch, dtype=torch.int64, device=self.device)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):  # libraries allocate in the first steps, which no graph may do
            for _ in range(3):
                self.train_all()
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.losses = self.train_all()

    def train_all(self):
        return self.torch.stack([self.train(part) for part in self.chosen.split(self.batch)])

    def step(self):
        self.chosen.copy_(self.next_examples(self.chosen.numel()))
        self.graph.replay()

    def losses_in_file_order(self, steps):
        """`steps` has to be those of one call, and within the first epoch."""
        self.start_over()
        self.chosen.copy_(self.torch.arange(steps * self.batch, device=self.device))
        self.graph.replay()
        self.torch.cuda.synchronize()
        return self.losses.cpu()


def largest_difference(torch, found, given):
    expected = torch.tensor(given["losses"])
    difference = ((found - expected).abs() / expected.abs()).max().item()
    return difference if difference == difference else float("inf")


def opponents(torch, given, cuda):
    """name -> population, those whose losses agree; and the differences of all."""
    makers = {}
    for threads in sorted({1, cores()}):
        for way, by_hand in (("autograd", False), ("by hand", True)):
            makers[f"{way}, {threads} threads"] = lambda by_hand=by_hand, threads=threads: Population(
                torch, given, "cpu", by_hand, threads)
    if cuda:
        makers.update({"CUDA, autograd": lambda: Population(torch, given, "cuda", False),
                       "CUDA, by hand": lambda: Population(torch, given, "cuda", True),
                       "CUDA graphs, autograd": lambda: GraphPopulation(torch, given, False),
                       "CUDA graphs, by hand": lambda: GraphPopulation(torch, given, True)})
    found, differences = {}, {}
    for name, make in makers.items():
        try:
            population = make()
            differences[name] = largest_difference(
                torch, population.losses_in_file_order(len(given["losses"])), given)
        except RuntimeError as error:  # not on this card, or not in this version
            print(f"PyTorch, {name}: not measured: {str(error).splitlines()[0]}")
            continue
        if differences[name] <= LOSS_TOLERANCE:
            found[name] = population
        else:
            print(f"PyTorch, {name}: DIFFERS by {differences[name]:.1e}: not timed")
    return found, differences


def best_of_kind(found, seconds):
    """Of the processor's, the card's and the graphs' populations the fastest each, tried for a moment."""
    best = {}
    for name, population in found.items():
        kind, speed = name.partition(",")[0] if "CUDA" in name else "processor", population.speed(seconds)
        if kind not in best or speed > best[kind][0]:
            best[kind] = (speed, name, population)
    return {name: population for _, name, population in best.values()}


def available_lanes(program, lanes):
    """Those that run here, and why the others do not."""
    there, missing = [], {}
    for lane in lanes:
        try:
            program.speed(lane, 0.01)
            there.append(lane)
        except (RuntimeError, subprocess.CalledProcessError) as error:
            missing[lane] = str(error).splitlines()[0]
    return there, missing


def read_arguments():
    options = parser(__doc__, rounds=5, seconds=1.0)
    options.add_argument("--members", type=int, default=1024)
    options.add_argument("--batch", type=int, default=10)
    options.add_argument("--lanes", default="cpu:best,gpu:best", help="of the program [cpu:best,gpu:best]")
    options.add_argument("--device", help="Vulkan device of the program: number, part of its name, or UUID")
    options.add_argument("--cuda", action="store_true", help="PyTorch on a card, too, where it sees one")
    arguments = options.parse_args()
    if arguments.small:
        arguments.members, arguments.rounds, arguments.seconds = 32, 2, 0.05
    return arguments


def main():
    arguments = read_arguments()
    try:
        import torch  # noqa: F401
    except ImportError as error:
        print(f"not measured: this Python has no PyTorch ({error})")
        return 0
    start_again_in_best_environment()
    torch.set_num_threads(cores())
    cuda = arguments.cuda and torch.cuda.is_available()
    if cuda:
        torch.set_float32_matmul_precision("highest")  # no TF32
    elif arguments.cuda:
        print(f"the card: not measured: PyTorch {torch.__version__} sees no CUDA card")
    pathlib.Path(arguments.folder).mkdir(parents=True, exist_ok=True)
    machine = about_machine()
    print(f"{machine['processor']}, {machine['cores']} cores, load {machine['load']:.2f}, {machine['date']}; PyTorch "
          f"{torch.__version__}" + (f" on {torch.cuda.get_device_name()}" if cuda else ""))
    program = SpeedProgram(find_speed_program(arguments.program), arguments)
    given = program.exchange()
    found, differences = opponents(torch, given, cuda)
    rivals = best_of_kind(found, arguments.seconds / 2)
    lanes, missing = available_lanes(program, arguments.lanes.split(","))
    for lane, reason in missing.items():
        print(f"{lane}: not measured: {reason}")
    sides = [lambda lane=lane: program.speed(lane, arguments.seconds) for lane in lanes]
    sides += [lambda rival=rival: rival.speed(arguments.seconds) for rival in rivals.values()]
    speeds = in_turn(sides, arguments.rounds)
    ours, theirs = dict(zip(lanes, speeds)), dict(zip(rivals, speeds[len(lanes):]))
    rows = [{"lane": lane, "network_steps_per_second": spread(own), "device": program.lane[lane]["device"],
             "kernels": program.lane[lane]["kernels"], "threads": program.lane[lane]["threads"],
             "ratios": {name: ratios(own, other) for name, other in theirs.items()}} for lane, own in ours.items()]
    print(f"\n{arguments.members} networks {'-'.join(map(str, given['widths']))}, batch {arguments.batch}: "
          f"network-steps per second; largest difference of a loss {max(differences.values(), default=0):.0e}\n")
    print_table(["", "network-steps/s", *(f"ratio to PyTorch, {name}" for name in theirs)],
                [[row["lane"], with_spread(row["network_steps_per_second"]),
                  *(with_spread(row["ratios"][name], two_digits) for name in theirs)] for row in rows] +
                [[f"PyTorch, {name}", with_spread(spread(own)), *("" for _ in theirs)] for name, own in theirs.items()])
    write_json(arguments.json, {**machine, "pytorch": torch.__version__, "members": arguments.members,
                                "batch": arguments.batch, "differences": differences, "not_measured": missing,
                                "lanes": rows, "pytorch_steps_per_second": {
                                    name: spread(own) for name, own in theirs.items()}})
    agree = all(difference <= LOSS_TOLERANCE for difference in differences.values())
    wrong = any("DIFFERS" in reason or "exit status" in reason for reason in missing.values())
    return 0 if agree and differences and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
