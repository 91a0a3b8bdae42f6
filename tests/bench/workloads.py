"""The networks and data that all comparisons of this folder use, as files which the program and PyTorch both read.

  W       784-256-128-10, ReLU, cross-entropy, batch 128      a first network for Fashion-MNIST
  W-big   784-2048-2048-10, batch 512                         products large enough for every library
  W-wide  4096-4096-4096-10, batch 4096                       a GPU's own size
  W-tiny  2-8-8-1, tanh, mean squared error, batch 10         the playground's

Data are random bytes (points in the plane for W-tiny): their values do not change the time, and with W and W-big there
are as many as in Fashion-MNIST. Nothing here needs PyTorch.
"""
import dataclasses
import json
import pathlib
import random
import struct

# Training steps per second of TensorFlow Playground on W-tiny: its own code (github.com/tensorflow/playground,
# src/nn.ts) with the same network and batch, on one Zen 5 core. A constant to compare with, never measured here.
PLAYGROUND_STEPS_PER_SECOND = 78_000


@dataclasses.dataclass(frozen=True)
class Workload:
    name: str
    widths: tuple
    batch: int
    examples: int
    activation: str = "relu"
    loss: str = "cross-entropy"
    checked_steps: int = 20  # whose losses have to agree before anything is timed

    @property
    def pixels(self):
        return self.widths[0] > 2

    @property
    def net(self):
        """As the engine's JSON results describe a network."""
        return {"widths": list(self.widths), "activation": self.activation, "output_activation": "identity",
                "loss": self.loss}

    @property
    def flops_per_example(self):
        """A multiplication and an addition per weight, forward and in both directions back; none to the inputs."""
        products = [2 * a * b for a, b in zip(self.widths, self.widths[1:])]
        return 3 * sum(products) - products[0]


WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("W", (784, 256, 128, 10), 128, 60_000),
        Workload("W-big", (784, 2048, 2048, 10), 512, 60_000, checked_steps=10),
        Workload("W-wide", (4096, 4096, 4096, 10), 4096, 16_384, checked_steps=5),
        Workload("W-tiny", (2, 8, 8, 1), 10, 400, "tanh", "mse", checked_steps=100),
    )
}
OPTIMIZERS = ("sgd", "adam")


def settings(workload, optimizer):
    """The settings of a run, with the keys of the engine's JSON results. Adam's rate is small: its first steps change
    millions of weights by the rate each, and with 0.001 a wide network's losses part by rounding alone."""
    return {"optimizer": optimizer, "lr": 0.01 if optimizer == "sgd" else 0.0001, "batch": workload.batch,
            "examples": workload.examples}


def small(workload):
    """The same with few examples: for a check that everything runs."""
    return dataclasses.replace(workload, examples=min(workload.examples, 4 * workload.batch + 1), checked_steps=5)


def write_data(workload, folder):
    """Writes the data set below `folder`, unless it is there; returns what --data calls it."""
    folder = pathlib.Path(folder) / f"{workload.name}-{workload.examples}"
    generator = random.Random(1)
    if not workload.pixels:
        folder.mkdir(parents=True, exist_ok=True)
        rows = [[generator.uniform(-1, 1) for _ in range(workload.widths[0])] for _ in range(workload.examples)]
        lines = [",".join(f"{value:.6f}" for value in row) + f",{int(row[0] * row[1] > 0)}" for row in rows]
        (folder / "points.csv").write_text("\n".join(lines) + "\n")
        return f"csv:{folder / 'points.csv'}"
    side = round(workload.widths[0] ** 0.5)
    assert side * side == workload.widths[0]
    if not (folder / "train-labels-idx1-ubyte").exists():
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / "train-images-idx3-ubyte", "wb") as file:
            file.write(struct.pack(">4I", 0x803, workload.examples, side, side))
            for _ in range(workload.examples):
                file.write(generator.randbytes(side * side))
        labels = bytes(example % workload.widths[-1] for example in range(workload.examples))
        (folder / "train-labels-idx1-ubyte").write_bytes(struct.pack(">2I", 0x801, len(labels)) + labels)
    return f"idx:{folder}"


def write_safetensors(path, tensors):
    """`tensors`: name -> (shape, bytes of little-endian floats)."""
    header, offset = {}, 0
    for name, (shape, content) in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [offset, offset + len(content)]}
        offset += len(content)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, content in tensors.values():
            file.write(content)
