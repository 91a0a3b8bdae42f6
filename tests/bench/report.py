"""What all comparisons share: sides measured in turn, median, spread and ratio, a table for people and JSON for
programs."""
import argparse
import datetime
import json
import os
import pathlib
import statistics
import sys

LOSS_TOLERANCE = 1e-4  # relative; between two float implementations of the same step


def cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def processor():
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return "unknown processor"


def spread(values):
    return {"median": statistics.median(values), "lowest": min(values), "highest": max(values)}


def in_turn(sides, rounds):
    """`sides`: functions that return a speed. Runs all of them `rounds` times in turn, the order reversed every other
    time, so that what else the machine does falls on all alike. Returns a list of speeds for each."""
    speeds = [[] for _ in sides]
    for turn in range(rounds):
        order = range(len(sides)) if turn % 2 == 0 else reversed(range(len(sides)))
        for side in order:
            speeds[side].append(sides[side]())
    return speeds


def ratios(ours, theirs):
    """Of the runs next to each other: noise that lasts longer than a round falls out."""
    return spread([a / b for a, b in zip(ours, theirs)])


def largest_difference(found, expected):
    """Relative, over two lists of losses; infinite when one is no number or they are not equally long."""
    if len(found) != len(expected) or not found:
        return float("inf")
    differences = [abs(a - b) / abs(b) if a is not None and a == a and b == b else float("inf")
                   for a, b in zip(found, expected)]
    return max(differences)


def amount(value):
    """1234567 as "1.23M"."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"


def with_spread(numbers, form=amount):
    return f"{form(numbers['median'])} ({form(numbers['lowest'])}-{form(numbers['highest'])})"


def two_digits(value):
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"


def try_row(row, measure):
    """`measure(row)` fills a dictionary; what goes wrong in one row is noted there, and the others go on."""
    try:
        measure(row)
    except Exception as error:  # whatever it is: a comparison runs unattended
        row["error"] = f"{type(error).__name__}: {error}"
        print(f"{row}", file=sys.stderr)
    return row


def print_table(head, rows):
    widths = [max(len(str(row[column])) for row in [head, *rows]) for column in range(len(head))]
    for row in [head, ["-" * width for width in widths], *rows]:
        print("| " + " | ".join(str(cell).ljust(width) for cell, width in zip(row, widths)) + " |", flush=True)


def parser(about, rounds=5, seconds=2.0):
    """The options that every comparison has."""
    options = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--program", help="the program `lockstep`, or the folder of a build or bundle")
    options.add_argument("--rounds", type=int, default=rounds, help=f"how often each side runs [{rounds}]")
    options.add_argument("--seconds", type=float, default=seconds, help=f"of each run [{seconds:g}]")
    options.add_argument("--folder", default=os.path.join(os.environ.get("TMPDIR", "/tmp"), "lockstep-bench"),
                         help="where data and weights are written, to be used again")
    options.add_argument("--json", metavar="FILE", help="write all results")
    options.add_argument("--small", action="store_true", help="few examples: only to see that everything runs")
    return options


def about_machine():
    return {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"), "processor": processor(),
            "cores": cores(), "load": os.getloadavg()[0]}


def write_json(path, document):
    if path:
        pathlib.Path(path).write_text(json.dumps(document, indent=1) + "\n")
