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
FORMATS = {"bf16": torch.bfloat16, "fp16": torch.float16}
LOSSES = {
    "cross-entropy": torch.nn.CrossEntropyLoss,
    "mse": torch.nn.MSELoss,
    "huber": torch.nn.HuberLoss,
    "bce": torch.nn.BCEWithLogitsLoss,
}


class RoundedOperand(torch.autograd.Function):
    """What a product reads: the nearest numbers of a format. The gradient passes."""

    @staticmethod
    def forward(context, values, format):
        return values.to(format).to(values.dtype)

    @staticmethod
    def backward(context, gradient):
        return gradient, None


class RoundedGradient(torch.autograd.Function):
    """The values pass. Their gradient is rounded, times the largest power of two up to 2^most with which all of it is
    in the format's range."""

    @staticmethod
    def forward(context, values, format, most):
        context.format, context.most = format, most
        return values.view_as(values)

    @staticmethod
    def backward(context, gradient):
        scale = 2.0**context.most
        while gradient.abs().max() * scale > torch.finfo(context.format).max:
            scale /= 2
        return (gradient * scale).to(context.format).to(gradient.dtype) / scale, None, None


class RoundedLinear(torch.nn.Linear):
    """A layer in mixed precision: its products read inputs, weights and gradients of sums in a format."""

    def use(self, settings):
        self.format = FORMATS[settings["format"]]
        scales = settings["format"] == "fp16" and settings.get("loss_scaling", True)
        self.most = 15 if scales else 0
        return self

    def forward(self, inputs):
        inputs = RoundedOperand.apply(inputs, self.format)
        weights = RoundedOperand.apply(self.weight, self.format)
        return RoundedGradient.apply(torch.nn.functional.linear(inputs, weights, self.bias), self.format, self.most)


def make_layer(inputs, outputs, settings):
    rounds = settings.get("format", "fp32") in FORMATS
    return RoundedLinear(inputs, outputs).use(settings) if rounds else torch.nn.Linear(inputs, outputs)


def round_parameters(parameters, settings):
    """Without master weights, parameters are numbers of the format."""
    if settings.get("master_weights", True):
        return
    with torch.no_grad():
        for parameter in parameters:
            parameter.copy_(parameter.to(FORMATS[settings["format"]]))


def make_network(net, tensors, dtype, settings={}):
    """nn.Sequential of Linear layers and activations; `tensors` are its first parameters, in order."""
    widths = net["widths"]
    modules = []
    for layer in range(len(widths) - 1):
        last = layer == len(widths) - 2
        modules.append(make_layer(widths[layer], widths[layer + 1], settings))
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
    round_parameters(parameters, settings)
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
        round_parameters(parameters, settings)
        for scheduler, period in schedulers:
            if period is None or step < period:
                scheduler.step()
    return losses
