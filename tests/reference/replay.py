#!/usr/bin/python3
"""Repeats a run of `lockstep train` in PyTorch and compares.

    lockstep train --init W.safetensors --no-shuffle --steps 200 --log-every 1 --json L.json --save W2.safetensors
    python3 replay.py --init W.safetensors --json L.json --save W2.safetensors

Trains from the same weights, on the same data in file order, in float32 and in float64; prints the largest relative
difference of a loss and the largest absolute difference of a weight, and exits with 1 when, in either of the two, one
is above 1e-5 or 1e-4 (in bf16 and fp16: 1e-3 or 4e-3). The last line says how far PyTorch's two own runs part. Where
that is far, the run measures rounding and not correctness: a unit of a ReLU layer whose sum is 1e-8 is on in one
arithmetic and off in the other, and within tens of steps that one example has changed everything (RMSprop does the same
to gradients near 0). Compare with a smooth activation (gelu, tanh, ...), or over fewer steps. A run in bf16 or fp16 is
repeated with operands that PyTorch has rounded: for derivatives that do not depend on rounded outputs, so with ReLU,
GELU or SiLU.

    --data SPEC    where the data are: fashion-mnist (default), idx:DIR, or csv:FILE (run it with --test-share 0)
    --label N      csv: column of the target, from 1 (default: the last)
    --lane N       which of several lanes in L.json, from 0
"""

import argparse
import csv
import gzip
import json
import pathlib
import struct
import sys

import torch

from pytorch_twin import FORMATS, make_network, make_targets, train

LOSS_TOLERANCE = 1e-5
WEIGHT_TOLERANCE = 1e-4
# Some operands fall to the other side of a tie, by a unit of the format: PyTorch's own two runs part as far.
ROUNDED_LOSS_TOLERANCE = 1e-3
ROUNDED_WEIGHT_TOLERANCE = 4e-3


def read_safetensors(path):
    """The float tensors of a file, by name. Format: 8 bytes little-endian header length, JSON header, raw data."""
    content = pathlib.Path(path).read_bytes()
    (length,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8:8 + length])
    header.pop("__metadata__", None)
    dtypes = {"F32": torch.float32, "F64": torch.float64}
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        if entry["dtype"] in dtypes:
            flat = torch.frombuffer(bytearray(content[begin:end]), dtype=dtypes[entry["dtype"]])
            tensors[name] = flat.reshape(entry["shape"])
    return tensors


def network_tensors(path, layers):
    """A network's weights and biases in the order of nn.Sequential(Linear, activation, Linear, ...).parameters()."""
    tensors = read_safetensors(path)
    return [tensors[f"{2 * layer}.{part}"] for layer in range(layers) for part in ("weight", "bias")]


def read_idx(folder, stem):
    """Bytes of FOLDER/STEM or FOLDER/STEM.gz, with the shape that the file says."""
    plain, packed = folder / stem, folder / (stem + ".gz")
    content = gzip.decompress(packed.read_bytes()) if packed.exists() else plain.read_bytes()
    dimensions = content[3]
    shape = struct.unpack_from(f">{dimensions}I", content, 4)
    return torch.frombuffer(bytearray(content[4 + 4 * dimensions:]), dtype=torch.uint8).reshape(shape)


def load_pixels(folder):
    images = read_idx(folder, "train-images-idx3-ubyte")
    labels = read_idx(folder, "train-labels-idx1-ubyte").long()
    return images.reshape(len(images), -1), labels


def load_table(path, data, label):
    """Inputs and targets of a CSV file: class numbers when the run had classes, else values."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        rows = [row for row in csv.reader(file) if row]
    if len(rows) == data["train"] + 1:
        rows = rows[1:]
    if len(rows) != data["train"]:
        sys.exit(f"{path} has {len(rows)} rows, the run trained on {data['train']}: run it with --test-share 0")
    column = label - 1 if label else len(rows[0]) - 1
    targets = [row.pop(column).strip() for row in rows]
    # Rounded to float once, as the engine keeps them.
    inputs = torch.tensor([[float(cell) for cell in row] for row in rows], dtype=torch.float32)
    if data["classes"] == 0:
        return inputs, torch.tensor([[float(cell)] for cell in targets], dtype=torch.float32)
    names = data["class_names"]
    numbers = {name: number for number, name in enumerate(names)}
    return inputs, torch.tensor([numbers[cell] for cell in targets])


def load_data(spec, data, label):
    if spec == "fashion-mnist":
        return load_pixels(pathlib.Path("/usr/share/datasets/fashion-mnist"))
    kind, _, path = spec.partition(":")
    if kind == "idx":
        return load_pixels(pathlib.Path(path))
    if kind == "csv":
        return load_table(path, data, label)
    sys.exit(f"unknown data '{spec}': fashion-mnist, idx:DIR or csv:FILE")


def replay(run, examples, targets, initial, steps, dtype):
    """Losses of each step and the final parameters, computed in `dtype`."""
    net, settings = run["net"], {**run["settings"], "examples": len(examples)}
    network = make_network(net, initial, dtype, settings)
    scale = 1 / 255 if examples.dtype == torch.uint8 else 1
    if targets.is_floating_point():
        answers = targets.to(dtype)
    else:
        answers = make_targets(net, targets, run["data"]["classes"], dtype)
    losses = train(network, net, settings, lambda start, end: examples[start:end].to(dtype) * scale,
                   lambda start, end: answers[start:end], steps)
    return losses, [parameter.detach() for parameter in network.parameters()]


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("--init", "--json", "--save"):
        parser.add_argument(option, required=True)
    parser.add_argument("--data", default="fashion-mnist")
    parser.add_argument("--label", type=int, default=0)
    parser.add_argument("--lane", type=int, default=0)
    return parser.parse_args()


def logged_losses(lane):
    """The losses of steps 0, 1, 2, ...; gaps mean that the run was logged too coarsely to be compared."""
    numbers = [point["step"] for point in lane["steps"]]
    if not numbers or numbers != list(range(numbers[0], numbers[0] + len(numbers))) or numbers[0] > 1:
        sys.exit("the JSON does not hold every step's loss from the first on: run with --log-every 1")
    return [point["loss"] for point in lane["steps"]]


def compare(found, expected, tolerance):
    """The largest relative difference (NaN when any is), and in words from which step on it is above the tolerance."""
    found, expected = (torch.tensor(values, dtype=torch.float64) for values in (found, expected))
    differences = (found - expected).abs() / expected.abs()
    above = (~(differences <= tolerance)).nonzero().flatten().tolist()
    return differences.max().item(), f" (above {tolerance:g} from step {above[0]} on)" if above else ""


def flat(tensors):
    return torch.cat([tensor.double().flatten() for tensor in tensors])


def main():
    arguments = read_arguments()
    run = json.loads(pathlib.Path(arguments.json).read_text())
    if run["settings"].get("shuffle", False):
        sys.exit("the run was shuffled: run with --no-shuffle")
    if run["settings"].get("format", "fp32") not in ("fp32", "fp64", *FORMATS):
        sys.exit(f"PyTorch has no conversion to {run['settings']['format']}: run in {', '.join(FORMATS)} or fp32")
    if run["settings"].get("rounding", "nearest") != "nearest":
        sys.exit("PyTorch draws other chances: run with --rounding nearest")
    found = logged_losses(run["lanes"][arguments.lane])
    layers = len(run["net"]["widths"]) - 1
    initial = network_tensors(arguments.init, layers)
    final = network_tensors(arguments.save, layers)
    examples, targets = load_data(arguments.data, run["data"], arguments.label)
    rounded = run["settings"].get("format", "fp32") in FORMATS
    loss_tolerance = ROUNDED_LOSS_TOLERANCE if rounded else LOSS_TOLERANCE
    weight_tolerance = ROUNDED_WEIGHT_TOLERANCE if rounded else WEIGHT_TOLERANCE
    failed = False
    replayed = []
    for dtype in (torch.float32, torch.float64):
        losses, weights = replay(run, examples, targets, initial, len(found), dtype)
        replayed.append(losses)
        by_loss, where = compare(found, losses, loss_tolerance)
        by_weight = (flat(final) - flat(weights)).abs().max().item()
        good = by_loss <= loss_tolerance and by_weight <= weight_tolerance  # False for NaN, too
        failed = failed or not good
        print(f"{run['lanes'][arguments.lane]['lane']} against PyTorch {str(dtype)[6:]}, {len(found)} steps: "
              f"{'agrees' if good else 'DIFFERS'}; largest relative loss difference {by_loss:.2e}{where}, "
              f"largest absolute weight difference {by_weight:.2e}")
    own, where = compare(*replayed, loss_tolerance)
    print(f"PyTorch float32 against PyTorch float64: largest relative loss difference {own:.2e}{where}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
