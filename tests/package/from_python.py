"""Trains, saves, loads and predicts through the functions of lockstep.h, as any language that calls C can.

from_python.py LIBRARY FOLDER
"""
import ctypes
import json
import math
import pathlib
import sys

library = ctypes.CDLL(sys.argv[1])
Numbers = ctypes.POINTER(ctypes.c_float)
library.lockstep_version.restype = ctypes.c_char_p
library.lockstep_last_error.restype = ctypes.c_char_p
library.lockstep_device.restype = ctypes.c_char_p
library.lockstep_device.argtypes = [ctypes.c_void_p]
library.lockstep_create.restype = ctypes.c_void_p
library.lockstep_create.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t, Numbers, Numbers, ctypes.c_void_p]
library.lockstep_destroy.argtypes = [ctypes.c_void_p]
library.lockstep_train.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.POINTER(ctypes.c_double)]
library.lockstep_predict.argtypes = [ctypes.c_void_p, ctypes.c_size_t, Numbers, Numbers]
library.lockstep_save.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
library.lockstep_load.argtypes = [ctypes.c_void_p, ctypes.c_char_p]


def check(failed):
    if failed:
        raise RuntimeError(library.lockstep_last_error().decode())


def numbers(values):
    return (ctypes.c_float * len(values))(*values)


x = [i / 100 - 1 for i in range(200)]
inputs, targets = numbers(x), numbers([math.sin(3 * each) for each in x])
settings = json.dumps({"net": {"widths": [1, 32, 1], "activation": "tanh"}, "settings": {"lr": 0.01, "batch": 50}})
file = str(pathlib.Path(sys.argv[2]) / "curve.safetensors").encode()


def create(lane):
    trainer = library.lockstep_create(lane, settings.encode(), len(x), inputs, targets, None)
    check(trainer is None)
    return trainer


def predict(trainer):
    outputs = numbers([0.0] * len(x))
    check(library.lockstep_predict(trainer, len(x), inputs, outputs))
    return list(outputs)


for lane in (b"cpu:best", b"gpu:best"):
    trainer = create(lane)
    loss = ctypes.c_double()
    check(library.lockstep_train(trainer, 1500, ctypes.byref(loss)))
    check(library.lockstep_save(trainer, file))
    saved = predict(trainer)
    worst = max(abs(a - b) for a, b in zip(saved, targets))
    print(lane.decode(), "on", library.lockstep_device(trainer).decode(), "loss", loss.value, "worst", worst)
    assert worst < 0.1, worst
    library.lockstep_destroy(trainer)
    trainer = create(lane)
    assert max(abs(a - b) for a, b in zip(predict(trainer), saved)) > 0.1  # not trained yet
    check(library.lockstep_load(trainer, file))
    assert predict(trainer) == saved
    library.lockstep_destroy(trainer)

assert library.lockstep_create(b"cpu:bset", settings.encode(), len(x), inputs, targets, None) is None
assert b"cpu:best" in library.lockstep_last_error()
print("lockstep", library.lockstep_version().decode(), "from Python: as expected")
