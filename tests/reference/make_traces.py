#!/usr/bin/python3
"""Writes traces.json: losses and final weights of small training runs in PyTorch, float64. And precision_traces.json:
the same of runs whose products read numbers that PyTorch has rounded to bf16 or fp16 (pytorch_twin.py).

    python3 make_traces.py            (needs PyTorch; the tests need only the file)

tests/engine/run/reference_test.cpp and precision_reference_test.cpp repeat every run and compare. The files hold all
that a run starts from (data, first weights, settings), so that nothing has to be computed alike on both sides. Data
and initial weights are multiples of 1/256: exact in float and double. `rates` says whether every number that the
optimizer multiplies by is exact in float, too ("exact"), or has to be rounded there ("rounded"): the engine hands
these numbers to its kernels as floats. `input_scale` multiplies the data: with features of thousands, all neurons
begin far out.
"""

import json
import pathlib
import random

import torch

from pytorch_twin import ACTIVATIONS, make_network, make_targets, train

STEPS = 40
FAR_STEPS = 12  # of runs whose rounding would grow from step to step
FAR = 1024
EXAMPLES = 23  # with batches of 7 the last one of an epoch has 2
BATCH = 7
INPUTS = 5


def sixty_fourths(generator, count, limit):
    """`count` multiples of 1/64 in [-limit, limit]."""
    return [generator.randint(-64 * limit, 64 * limit) / 64 for _ in range(count)]


def make_data(generator):
    """Three sets over different inputs: three classes, two classes, two values."""

    def inputs():
        return sixty_fourths(generator, EXAMPLES * INPUTS, 2)

    return {
        "three": {"classes": 3, "values": inputs(), "labels": [generator.randrange(3) for _ in range(EXAMPLES)]},
        "two": {"classes": 2, "values": inputs(), "labels": [generator.randrange(2) for _ in range(EXAMPLES)]},
        "pairs": {
            "classes": 0,
            "target_width": 2,
            "values": inputs(),
            "targets": sixty_fourths(generator, EXAMPLES * 2, 2),
        },
    }


def make_initial(generator, widths):
    """First tensors in the order of `parameters()`: weight [out][in], bias [out], layer by layer."""
    tensors = []
    for inputs, outputs in zip(widths, widths[1:]):
        tensors.append(sixty_fourths(generator, inputs * outputs, 1))
        tensors.append([value / 4 for value in sixty_fourths(generator, outputs, 1)])
    return tensors


def trace(name, data="three", rates="exact", activation="tanh", output_activation="identity", loss="cross-entropy",
          **settings):
    return {
        "name": name,
        "data": data,
        "rates": rates,
        "net": {"activation": activation, "output_activation": output_activation, "loss": loss},
        "settings": {"optimizer": "sgd", "lr": 0.125, **settings},
    }


def far(name, rates="rounded", optimizer="adam", lr=0.01, **more):
    return {**trace("far " + name, rates=rates, optimizer=optimizer, lr=lr, **more), "input_scale": FAR}


def far_table():
    """Every activation, loss and optimizer where features are of thousands, as prices are."""
    runs = [far("hidden " + name, data="pairs", loss="huber", activation=name) for name in ACTIVATIONS]
    runs += [
        far("mse", data="pairs", loss="mse"),
        far("bce", data="two", loss="bce"),
        far("cross-entropy"),
        far("sgd", rates="exact", optimizer="sgd", lr=2**-10),
        far("momentum", rates="exact", optimizer="momentum", lr=2**-10, momentum=0.875),
        far("rmsprop", rates="exact", optimizer="rmsprop", lr=0.0078125, alpha=0.9375, epsilon=2**-20),
        far("adamw", optimizer="adamw", weight_decay=0.01),
    ]
    return runs


def table():
    """Every activation, loss, kind of target, optimizer, option and schedule at least once."""
    runs = [trace("hidden " + name, activation=name) for name in ACTIVATIONS]
    runs += [trace("output " + name, data="pairs", loss="mse", output_activation=name) for name in ACTIVATIONS]
    runs += [
        trace("mse, one output, signs", data="two", loss="mse", output_activation="tanh"),
        trace("mse, one output, bits", data="two", loss="mse", output_activation="sigmoid"),
        trace("mse, an output per class", loss="mse"),
        trace("huber, one output, signs", data="two", loss="huber"),
        trace("huber, values", data="pairs", loss="huber", activation="gelu"),
        trace("huber, an output per class", loss="huber", activation="relu"),
        trace("bce, one output", data="two", loss="bce", activation="silu"),
        trace("bce, an output per class", loss="bce"),
        trace("sgd, l2", weight_decay=0.0625),
        trace("sgd, l1", l1=0.015625),
        trace("sgd, default rate", rates="rounded", lr=0.1),
        trace("momentum", optimizer="momentum", momentum=0.875),
        trace("momentum, nesterov", optimizer="momentum", momentum=0.875, nesterov=True),
        trace("momentum, nesterov, l2", optimizer="momentum", momentum=0.5, nesterov=True, weight_decay=0.03125),
        trace("momentum, defaults", rates="rounded", optimizer="momentum", lr=0.1, momentum=0.9),
        trace("rmsprop", optimizer="rmsprop", lr=0.0078125, alpha=0.9375, epsilon=2**-20),
        trace("rmsprop, l2", optimizer="rmsprop", lr=0.0078125, alpha=0.9375, epsilon=2**-20, weight_decay=0.0625),
        trace("rmsprop, defaults", rates="rounded", optimizer="rmsprop", lr=0.01),
        trace("adam", rates="rounded", optimizer="adam", lr=0.01),
        trace("adam, other betas", rates="rounded", optimizer="adam", lr=0.02, beta1=0.8, beta2=0.95, epsilon=1e-4),
        trace("adam, l2", rates="rounded", optimizer="adam", lr=0.01, weight_decay=0.1),
        trace("adamw", rates="rounded", optimizer="adamw", lr=0.01, weight_decay=0.01),
        trace("adamw, strong decay", rates="rounded", optimizer="adamw", lr=0.01, weight_decay=0.5),
        trace("step", schedule="step", schedule_steps=10, schedule_gamma=0.5),
        trace("cosine", rates="rounded", schedule="cosine", schedule_steps=STEPS),
        trace("warm-up", warmup_steps=8),
        trace("warm-up, step", schedule="step", schedule_steps=10, schedule_gamma=0.5, warmup_steps=4),
        trace("warm-up, cosine, adam", rates="rounded", optimizer="adam", lr=0.01, schedule="cosine",
              schedule_steps=STEPS, warmup_steps=10),
    ]
    return runs + far_table()


def outputs_of(net, data):
    if data["classes"] == 0:
        return data["target_width"]
    return 1 if data["classes"] == 2 and net["loss"] != "cross-entropy" else data["classes"]


def run_trace(run, data, tensors):
    """Fills run["losses"] and run["final"]."""
    net = run["net"]
    network = make_network(net, tensors, torch.float64, run["settings"])
    inputs = torch.tensor(data["values"], dtype=torch.float64).reshape(EXAMPLES, INPUTS) * run.get("input_scale", 1)
    if "targets" in data:
        targets = torch.tensor(data["targets"], dtype=torch.float64).reshape(EXAMPLES, -1)
    else:
        targets = make_targets(net, torch.tensor(data["labels"]), data["classes"], torch.float64)
    settings = {"batch": BATCH, "examples": EXAMPLES, **run["settings"]}
    run["losses"] = train(network, net, settings, lambda start, end: inputs[start:end],
                          lambda start, end: targets[start:end], FAR_STEPS if "input_scale" in run else STEPS)
    run["final"] = [parameter.detach().flatten().tolist() for parameter in network.parameters()]


def precision_table():
    """Each format that PyTorch converts to, with data that are not exact in it."""
    settings = [
        {"format": "bf16"},
        {"format": "bf16", "master_weights": False},
        {"format": "fp16"},
        {"format": "fp16", "master_weights": False},
    ]
    # ReLU and GELU: the derivative does not depend on whether outputs were rounded already.
    runs = []
    for activation in ("relu", "gelu"):
        for own in settings:
            name = f"{activation}, {own['format']}{', stored' if 'master_weights' in own else ''}"
            run = trace(name, rates="rounded", activation=activation, optimizer="adam", lr=0.01, **own)
            runs.append({**run, "input_scale": 1 + 1 / 32})
    return runs


def write(file_name, runs):
    generator = random.Random(20240229)
    data = make_data(generator)
    initial = {}
    for run in runs:
        hidden = [4] if "input_scale" in run else [6, 4]
        widths = [INPUTS, *hidden, outputs_of(run["net"], data[run["data"]])]
        key = "-".join(map(str, widths))
        if key not in initial:
            initial[key] = make_initial(generator, widths)
        run["net"]["widths"] = widths
        run_trace(run, data[run["data"]], initial[key])
    document = {
        "made_with": f"PyTorch {torch.__version__}, float64",
        "inputs": INPUTS,
        "examples": EXAMPLES,
        "batch": BATCH,
        "data": data,
        "initial": initial,
    }
    # One run per line, so that a change of one is a change of one line.
    lines = ",\n".join(json.dumps(run) for run in runs)
    head = json.dumps(document)[:-1]
    path = pathlib.Path(__file__).with_name(file_name)
    path.write_text(f'{head},\n"runs": [\n{lines}\n]}}\n')
    print(f"{path}: {len(runs)} runs, {path.stat().st_size // 1024} KiB")


def main():
    torch.set_num_threads(1)
    write("traces.json", table())
    write("precision_traces.json", precision_table())


if __name__ == "__main__":
    main()
