"""What the engine's settings mean in PyTorch. Shared by make_traces.py and replay.py.

`net` and `settings` are dictionaries with the keys of the engine's JSON results ("widths", "activation", ... and
"optimizer", "lr", ...); settings that are missing have PyTorch's defaults.
"""

import torch

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


def make_network(net, tensors, dtype):
    """nn.Sequential of Linear layers and activations; `tensors` are its first parameters, in order."""
    widths = net["widths"]
    modules = []
    for layer in range(len(widths) - 1):
        last = layer == len(widths) - 2
        modules.append(torch.nn.Linear(widths[layer], widths[layer + 1]))
        modules.append(ACTIVATIONS[net["output_activation"] if last else net["activation"]]())
    network = torch.nn.Sequential(*modules).to(dtype)
    with torch.no_grad():
        for parameter, values in zip(network.parameters(), tensors):
            parameter.copy_(torch.as_tensor(values, dtype=dtype).reshape(parameter.shape))
    return network


def make_targets(net, labels, classes, dtype):
    """Class numbers as the loss wants them: numbers, one-hot rows, bits, or signs."""
    if net["loss"] == "cross-entropy":
        return labels
    if net["widths"][-1] > 1:
        return torch.nn.functional.one_hot(labels, classes).to(dtype)
    bits = labels.to(dtype).reshape(-1, 1)
    return bits if net["loss"] == "bce" or net["output_activation"] == "sigmoid" else 2 * bits - 1


def make_optimizer(parameters, settings):
    kind, rate, decay = settings["optimizer"], settings["lr"], settings.get("weight_decay", 0)
    if kind == "sgd":
        return torch.optim.SGD(parameters, lr=rate, weight_decay=decay)
    if kind == "momentum":
        return torch.optim.SGD(parameters, lr=rate, momentum=settings["momentum"], weight_decay=decay,
                               nesterov=settings.get("nesterov", False))
    epsilon = settings.get("epsilon", 1e-8)
    if kind == "rmsprop":
        return torch.optim.RMSprop(parameters, lr=rate, alpha=settings.get("alpha", 0.99), eps=epsilon,
                                   weight_decay=decay)
    betas = (settings.get("beta1", 0.9), settings.get("beta2", 0.999))
    make = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[kind]
    return make(parameters, lr=rate, betas=betas, eps=epsilon, weight_decay=decay)


def make_schedulers(optimizer, settings):
    """PyTorch's own schedulers, each with the number of steps that it is good for. Each multiplies the rate, so
    two can be stepped one after the other."""
    schedulers = []
    period = settings.get("schedule_steps")
    if settings.get("schedule", "constant") == "step":
        gamma = settings["schedule_gamma"]
        schedulers.append((torch.optim.lr_scheduler.StepLR(optimizer, period, gamma), None))
    if settings.get("schedule", "constant") == "cosine":  # PyTorch's would rise again after the period
        schedulers.append((torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, period), period))
    warmup = settings.get("warmup_steps", 0)
    if warmup > 1:
        schedulers.append((torch.optim.lr_scheduler.LinearLR(optimizer, 1 / warmup, 1.0, warmup - 1), None))
    return schedulers


def train(network, net, settings, inputs, targets, steps):
    """Trains in file order, the last batch of an epoch smaller; returns each step's loss before its update.

    `inputs` and `targets` give the rows [start, end) when called.
    """
    parameters = list(network.parameters())
    optimizer = make_optimizer(parameters, settings)
    schedulers = make_schedulers(optimizer, settings)
    loss_function = LOSSES[net["loss"]]()
    count, batch = settings["examples"], settings["batch"]
    starts = list(range(0, count, batch))
    losses = []
    for step in range(steps):
        start = starts[step % len(starts)]
        end = min(start + batch, count)
        optimizer.zero_grad()
        loss = loss_function(network(inputs(start, end)), targets(start, end))
        losses.append(loss.item())
        if settings.get("l1", 0) > 0:  # not in PyTorch's optimizers, so it goes through the gradient
            loss = loss + settings["l1"] * sum(parameter.abs().sum() for parameter in parameters)
        loss.backward()
        optimizer.step()
        for scheduler, period in schedulers:
            if period is None or step < period:
                scheduler.step()
    return losses
