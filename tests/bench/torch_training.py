"""A training run in PyTorch, stated as the program states it: same network, same optimizer, same initial weights, the
whole data set in memory as floats, batches picked by a shuffled index. Works with PyTorch 1.13 and 2.x."""
import ctypes
import gzip
import pathlib
import struct
import sys
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "reference"))
from pytorch_twin import LOSSES, make_network, make_targets  # noqa: E402

from workloads import write_safetensors  # noqa: E402


def initial_weights(workload, seed=1):
    """He's normal weights and zero biases, in the order of parameters()."""
    generator = torch.Generator().manual_seed(seed)
    tensors = []
    for inputs, outputs in zip(workload.widths, workload.widths[1:]):
        tensors.append(torch.randn(outputs, inputs, generator=generator) * (2 / inputs) ** 0.5)
        tensors.append(torch.zeros(outputs))
    return tensors


def write_weights(path, tensors):
    """For --init: the names of an nn.Sequential of Linear layers and activations."""
    names = [f"{2 * layer}.{part}" for layer in range(len(tensors) // 2) for part in ("weight", "bias")]
    content = {name: (tensor.shape, ctypes.string_at(tensor.data_ptr(), 4 * tensor.numel()))
               for name, tensor in zip(names, (tensor.contiguous() for tensor in tensors))}
    write_safetensors(path, content)


def read_idx(path):
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    dimensions = content[3]
    shape = struct.unpack_from(f">{dimensions}I", content, 4)
    return torch.frombuffer(bytearray(content[4 + 4 * dimensions:]), dtype=torch.uint8).reshape(shape)


def read_data(workload, spec):
    """Inputs as floats and targets as the loss wants them, on the processor. `spec` is write_data's answer."""
    kind, _, path = spec.partition(":")
    if kind == "csv":
        rows = [list(map(float, line.split(","))) for line in pathlib.Path(path).read_text().splitlines()]
        table = torch.tensor(rows)
        inputs, labels = table[:, :-1].contiguous(), table[:, -1].long()
        return inputs, make_targets(workload.net, labels, 2, torch.float32)
    images = read_idx(pathlib.Path(path) / "train-images-idx3-ubyte")
    labels = read_idx(pathlib.Path(path) / "train-labels-idx1-ubyte").long()
    inputs = images.reshape(len(images), -1).float() * (1 / 255)
    return inputs, make_targets(workload.net, labels, workload.widths[-1], torch.float32)


def make_optimizer(parameters, settings, **how):
    """`how`: foreach=True, fused=True, capturable=True: ways of computing the same. Throws where there is none."""
    if settings["optimizer"] == "sgd":
        return torch.optim.SGD(parameters, lr=settings["lr"], **how)
    return torch.optim.Adam(parameters, lr=settings["lr"], **how)


class Training:
    """Eager PyTorch. `device` is "cpu" or "cuda"; `how` goes to the optimizer; `amp` a lower precision for products,
    or None."""

    def __init__(self, workload, settings, data, weights, device="cpu", how=None, amp=None):
        self.batch = workload.batch
        self.device = torch.device(device)
        self.inputs, self.targets = (tensor.to(self.device) for tensor in data)
        self.network = make_network(workload.net, weights, torch.float32).to(self.device)
        self.loss_function = LOSSES[workload.loss]()
        self.optimizer = make_optimizer(self.network.parameters(), settings, **(how or {}))
        self.amp = amp
        # Shuffled beforehand, as many epochs as fit into some megabytes: shuffling is no part of what is timed.
        epochs = max(1, min(64, 2_000_000 // len(self.inputs)))
        self.order = torch.cat([torch.randperm(len(self.inputs)) for _ in range(epochs)]).to(self.device)
        self.position = 0

    def losses_in_file_order(self, steps):
        """Trains; returns every step's loss before its update. The last batch of an epoch is smaller."""
        losses, start = [], 0
        for _ in range(steps):
            end = min(start + self.batch, len(self.inputs))
            losses.append(self.train(self.inputs[start:end], self.targets[start:end]).item())
            start = end % len(self.inputs)
        return losses

    def loss_of(self, inputs, targets):
        if self.amp is None:
            return self.loss_function(self.network(inputs), targets)
        with torch.autocast(self.device.type, dtype=self.amp):
            return self.loss_function(self.network(inputs).float(), targets)

    def train(self, inputs, targets):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss_of(inputs, targets)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def next_examples(self, count):
        """Indices of the next examples in the shuffled order."""
        if self.position + count > len(self.order):
            self.position = 0
        self.position += count
        return self.order[self.position - count:self.position]

    steps_per_call = 1

    def step(self):
        chosen = self.next_examples(self.batch)
        self.train(self.inputs.index_select(0, chosen), self.targets.index_select(0, chosen))

    def wait(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def speed(self, seconds):
        """Samples per second over `seconds`. The clock is read every few steps: it costs something, too."""
        for _ in range(5):
            self.step()
        self.wait()
        steps, chunk, start = 0, 1, time.perf_counter()
        while True:
            before = time.perf_counter()
            for _ in range(chunk):
                self.step()
            self.wait()
            now = time.perf_counter()
            steps += chunk
            if now - start >= seconds:
                return steps * self.steps_per_call * self.batch / (now - start)
            if now - before < 0.05:
                chunk *= 2
