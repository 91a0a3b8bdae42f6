#!/usr/bin/env python3
"""Samples per second of PyTorch on the processor, for comparison with cpu_bench: the same networks, batches and
optimizers, the whole data set in memory as floats, batches picked by a shuffled index. Prints one JSON object.

  pytorch_cpu.py [workload [optimizer [threads [seconds]]]]     W sgd 2 2

Debian's PyTorch is fastest on OpenBLAS with OpenMP:
  env -u OPENBLAS_CORETYPE LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu/openblas-openmp \
      OMP_NUM_THREADS=2 OPENBLAS_NUM_THREADS=2 /usr/bin/python3 tests/bench/pytorch_cpu.py
"""
import json
import sys
import time

import torch
from torch import nn

WORKLOADS = {
    "W": ([784, 256, 128, 10], nn.ReLU, nn.CrossEntropyLoss, 128, 60000),
    "W-big": ([784, 2048, 2048, 10], nn.ReLU, nn.CrossEntropyLoss, 512, 60000),
    "W-tiny": ([2, 8, 8, 1], nn.Tanh, nn.MSELoss, 10, 400),
}
OPTIMIZERS = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.01),
    "momentum": lambda parameters: torch.optim.SGD(parameters, lr=0.01, momentum=0.9),
    "rmsprop": lambda parameters: torch.optim.RMSprop(parameters, lr=0.01),
    "adam": lambda parameters: torch.optim.Adam(parameters, lr=0.01),
    "adamw": lambda parameters: torch.optim.AdamW(parameters, lr=0.01),
}


def network(widths, activation):
    layers = []
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [nn.Linear(inputs, outputs), activation()]
    return nn.Sequential(*layers[:-1])


def main():
    arguments = dict(enumerate(sys.argv[1:]))
    workload = arguments.get(0, "W")
    optimizer_name = arguments.get(1, "sgd")
    threads = int(arguments.get(2, 2))
    seconds = float(arguments.get(3, 2))
    torch.set_num_threads(threads)
    torch.manual_seed(1)

    widths, activation, loss_class, batch, count = WORKLOADS[workload]
    net = network(widths, activation)
    loss_function = loss_class()
    optimizer = OPTIMIZERS[optimizer_name](net.parameters())
    inputs = torch.rand(count, widths[0])
    targets = torch.rand(count, 1) * 2 - 1 if widths[-1] == 1 else torch.randint(0, widths[-1], (count,))

    position, order = count, None

    def step():
        nonlocal position, order
        if position + batch > count:
            position, order = 0, torch.randperm(count)
        chosen = order[position : position + batch]
        position += batch
        optimizer.zero_grad(set_to_none=True)
        loss_function(net(inputs[chosen]), targets[chosen]).backward()
        optimizer.step()

    for _ in range(50):
        step()
    times, total = [], 0.0
    while total < seconds:
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
        total += times[-1]
    times.sort()
    print(
        json.dumps(
            {
                "workload": workload,
                "rung": "pytorch " + torch.__version__,
                "optimizer": optimizer_name,
                "threads": threads,
                "samples_per_second": round(batch / times[len(times) // 2]),
                "fastest": round(batch / times[len(times) // 20]),
            }
        )
    )


if __name__ == "__main__":
    main()
