#!/usr/bin/python3
"""Writes traces.json: losses and final weights of small training runs in PyTorch, float64.

    python3 make_traces.py            (needs PyTorch; the tests need only the file)

tests/reference_test.cpp repeats every run and compares. The file holds all that a run starts from (data, first weights,
settings), so that nothing has to be computed alike on both sides. Data and first weights are multiples of 1/64: exact in
float and double. `rates` says whether every number that the optimizer multiplies by is exact in float, too
("exact"), or has to be rounded there ("rounded"): the engine hands these numbers to its kernels as floats.
"""

import json
import pathlib
import random

import torch

STEPS = 40
EXAMPLES = 23  # with batches of 7 the last one of an epoch has 2
BATCH = 7
INPUTS = 5

ACTIVATIONS = {
    "identity": torch.nn.Identity,
    "relu": torch.nn.ReLU,
    "leaky-relu": torch.nn.LeakyReLU,
    "elu": torch.nn.ELU,
    "gelu": torch.nn.GELU,
    "tanh": torch.nn.Tanh,
    "sigmoid": torch.nn.Sigmoid,
    "silu": torch.nn.SiLU,
}
LOSSES = {
    "cross-entropy": torch.nn.CrossEntropyLoss,
    "mse": torch.nn.MSELoss,
    "huber": torch.nn.HuberLoss,
    "bce": torch.nn.BCEWithLogitsLoss,
}


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
          **optimizer):
    settings = {"kind": "sgd", "lr": 0.125}
    settings.update(optimizer)
    return {
        "name": name,
        "data": data,
        "rates": rates,
        "activation": activation,
        "output_activation": output_activation,
        "loss": loss,
        "optimizer": settings,
    }


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
        trace("momentum", kind="momentum", momentum=0.875),
        trace("momentum, nesterov", kind="momentum", momentum=0.875, nesterov=True),
        trace("momentum, nesterov, l2", kind="momentum", momentum=0.5, nesterov=True, weight_decay=0.03125),
        trace("momentum, defaults", rates="rounded", kind="momentum", lr=0.1, momentum=0.9),
        trace("rmsprop", kind="rmsprop", lr=0.0078125, alpha=0.9375, eps=2**-20),
        trace("rmsprop, l2", kind="rmsprop", lr=0.0078125, alpha=0.9375, eps=2**-20, weight_decay=0.0625),
        trace("rmsprop, defaults", rates="rounded", kind="rmsprop", lr=0.01),
        trace("adam", rates="rounded", kind="adam", lr=0.01),
        trace("adam, other betas", rates="rounded", kind="adam", lr=0.02, beta1=0.8, beta2=0.95, eps=1e-4),
        trace("adam, l2", rates="rounded", kind="adam", lr=0.01, weight_decay=0.1),
        trace("adamw", rates="rounded", kind="adamw", lr=0.01, weight_decay=0.01),
        trace("adamw, strong decay", rates="rounded", kind="adamw", lr=0.01, weight_decay=0.5),
        trace("step", schedule="step", schedule_steps=10, gamma=0.5),
        trace("cosine", rates="rounded", schedule="cosine", schedule_steps=STEPS),
        trace("warm-up", warmup=8),
        trace("warm-up, step", schedule="step", schedule_steps=10, gamma=0.5, warmup=4),
        trace("warm-up, cosine, adam", rates="rounded", kind="adam", lr=0.01, schedule="cosine",
              schedule_steps=STEPS, warmup=10),
    ]
    return runs


def make_optimizer(parameters, settings):
    rate, decay = settings["lr"], settings.get("weight_decay", 0)
    kind = settings["kind"]
    if kind in ("sgd", "momentum"):
        return torch.optim.SGD(parameters, lr=rate, momentum=settings.get("momentum", 0), weight_decay=decay,
                               nesterov=settings.get("nesterov", False))
    epsilon = settings.get("eps", 1e-8)
    if kind == "rmsprop":
        return torch.optim.RMSprop(parameters, lr=rate, alpha=settings.get("alpha", 0.99), eps=epsilon,
                                   weight_decay=decay)
    betas = (settings.get("beta1", 0.9), settings.get("beta2", 0.999))
    make = torch.optim.Adam if kind == "adam" else torch.optim.AdamW
    return make(parameters, lr=rate, betas=betas, eps=epsilon, weight_decay=decay)


def make_schedulers(optimizer, settings):
    """PyTorch's own schedulers; each multiplies the rate, so two can be stepped one after the other."""
    schedulers = []
    if settings.get("schedule") == "step":
        schedulers.append(torch.optim.lr_scheduler.StepLR(optimizer, settings["schedule_steps"], settings["gamma"]))
    if settings.get("schedule") == "cosine":
        schedulers.append(torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, settings["schedule_steps"]))
    if "warmup" in settings:
        steps = settings["warmup"]
        schedulers.append(torch.optim.lr_scheduler.LinearLR(optimizer, 1 / steps, 1.0, steps - 1))
    return schedulers


def make_network(run, widths, tensors):
    modules = []
    for layer in range(len(widths) - 1):
        last = layer == len(widths) - 2
        modules.append(torch.nn.Linear(widths[layer], widths[layer + 1]))
        modules.append(ACTIVATIONS[run["output_activation"] if last else run["activation"]]())
    network = torch.nn.Sequential(*modules).double()
    with torch.no_grad():
        for parameter, values in zip(network.parameters(), tensors):
            parameter.copy_(torch.tensor(values, dtype=torch.float64).reshape(parameter.shape))
    return network


def make_targets(run, data, outputs):
    if "targets" in data:
        return torch.tensor(data["targets"], dtype=torch.float64).reshape(-1, data["target_width"])
    labels = torch.tensor(data["labels"])
    if run["loss"] == "cross-entropy":
        return labels
    if outputs > 1:
        return torch.nn.functional.one_hot(labels, data["classes"]).double()
    bits = labels.double().reshape(-1, 1)
    return bits if run["loss"] == "bce" or run["output_activation"] == "sigmoid" else 2 * bits - 1


def outputs_of(run, data):
    if data["classes"] == 0:
        return data["target_width"]
    return 1 if data["classes"] == 2 and run["loss"] != "cross-entropy" else data["classes"]


def train(run, data, widths, tensors):
    """Fills run["losses"] and run["final"]."""
    network = make_network(run, widths, tensors)
    parameters = list(network.parameters())
    optimizer = make_optimizer(parameters, run["optimizer"])
    schedulers = make_schedulers(optimizer, run["optimizer"])
    loss_function = LOSSES[run["loss"]]()
    inputs = torch.tensor(data["values"], dtype=torch.float64).reshape(EXAMPLES, INPUTS)
    targets = make_targets(run, data, widths[-1])
    l1 = run["optimizer"].get("l1", 0)
    starts = [start for _ in range(STEPS) for start in range(0, EXAMPLES, BATCH)][:STEPS]
    losses = []
    for start in starts:
        optimizer.zero_grad()
        loss = loss_function(network(inputs[start:start + BATCH]), targets[start:start + BATCH])
        penalty = sum(parameter.abs().sum() for parameter in parameters) * l1
        (loss + penalty).backward()
        optimizer.step()
        for scheduler in schedulers:
            scheduler.step()
        losses.append(loss.item())
    run["losses"] = losses
    run["final"] = [parameter.detach().flatten().tolist() for parameter in parameters]


def main():
    torch.set_num_threads(1)
    generator = random.Random(20240229)
    data = make_data(generator)
    initial = {}
    runs = table()
    for run in runs:
        widths = [INPUTS, 6, 4, outputs_of(run, data[run["data"]])]
        key = "-".join(map(str, widths))
        if key not in initial:
            initial[key] = make_initial(generator, widths)
        run["widths"] = widths
        train(run, data[run["data"]], widths, initial[key])
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
    path = pathlib.Path(__file__).with_name("traces.json")
    path.write_text(f'{head},\n"runs": [\n{lines}\n]}}\n')
    print(f"{path}: {len(runs)} runs, {path.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
