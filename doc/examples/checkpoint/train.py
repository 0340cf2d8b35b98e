#!/usr/bin/env python3
"""train.py STEPS SECONDS: train a small model by stochastic gradient descent, as a job that saves itself.

    qsub -W preempt_methods=CR -- /usr/bin/python3 $PWD/train.py 10000 0.1

What is saved is all that the next step depends on: the weights, the number of steps, and the state of the random numbers, so that a training
that was interrupted ends with the same weights as one that was not.
"""
import json
import os
import random
import signal
import sys
import time

DIR = os.environ.get("PBS_CHECKPOINT_DIR", ".")
STATE = os.path.join(DIR, "state")
RATE = 0.01
asked = False


def ask(_signal, _frame):
    """A handler runs between any two instructions of Python, in the middle of a step too: it only notes."""
    global asked
    asked = True


def load():
    """Weights, steps done, random numbers; None: from the beginning."""
    try:
        with open(STATE, encoding="ascii") as f:
            s = json.load(f)
    except FileNotFoundError:
        return [0.0, 0.0], 0, random.Random(1)
    dice = random.Random()
    version, numbers, gauss = s["dice"]
    dice.setstate((version, tuple(numbers), gauss))
    return s["weights"], s["steps"], dice


def save(weights, steps, dice):
    """A new file, to disk, and then its name: a crash leaves the old state or the new one."""
    global asked
    with open(STATE + ".new", "w", encoding="ascii") as f:
        json.dump({"weights": weights, "steps": steps, "dice": dice.getstate()}, f)
        f.flush()
        os.fsync(f.fileno())
    os.replace(STATE + ".new", STATE)
    asked = False
    with open(os.path.join(DIR, "done"), "w", encoding="ascii"):
        pass


def step(weights, dice):
    """y = 3 x - 1 and noise."""
    x = dice.uniform(-1, 1)
    wrong = weights[0] * x + weights[1] - (3 * x - 1 + dice.gauss(0, 0.1))
    return [weights[0] - RATE * wrong * x, weights[1] - RATE * wrong]


def main(last, pause_s):
    signal.signal(signal.SIGUSR1, ask)
    weights, steps, dice = load()
    while steps < last:
        weights = step(weights, dice)
        steps += 1
        time.sleep(pause_s)
        if asked:
            save(weights, steps, dice)
    print(*weights)


main(int(sys.argv[1]), float(sys.argv[2]))
