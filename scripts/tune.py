#!/usr/bin/env python3
"""Runs `lozenge tune` on an executor of concurrent.futures: here two threads, each of which starts workers.

    scripts/tune.py --rounds 3 -- mul 64 --mcu atmega128 --seed 1 -o mul64.toml

Each round is one list of tasks, each task a line of JSON that any `lozenge tune --worker` answers with a line. So a cluster
needs only an executor: with Dask `distributed.Client(ADDRESS).get_executor()`, with
MPI `mpi4py.futures.MPIPoolExecutor()`. `worker` is all that runs there, and `lozenge` must be on the PATH there.
"""
import argparse
import concurrent.futures
import os
import subprocess

LOZENGE = os.environ.get("LOZENGE", "lozenge")


def worker(task):
    """What comes of a task: a line for a line."""
    command = [LOZENGE, "tune", "--worker"]
    return subprocess.run(command, input=task, text=True, stdout=subprocess.PIPE, check=True).stdout


def lozenge(words, given=None):
    """What `lozenge tune` prints."""
    command = [LOZENGE, "tune", *words]
    return subprocess.run(command, input=given, text=True, stdout=subprocess.PIPE, check=True).stdout


def tune(executor, words, rounds):
    """So many rounds, then proofs until all points of the front are proved."""
    for _ in range(rounds):
        tasks = lozenge([*words, "--tasks"]).splitlines()
        lozenge([*words, "--results", "-"], "".join(executor.map(worker, tasks)))
    told = ""
    while tasks := lozenge([*words, "--tasks", "--proofs"]).split():
        told = lozenge([*words, "--results", "-", "--proofs"], "".join(executor.map(worker, tasks)))
    return told


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("words", nargs="+", help="what `lozenge tune` takes: operation, bits, target, seed, file")
    given = parser.parse_args()
    with concurrent.futures.ThreadPoolExecutor(given.workers) as executor:
        print(tune(executor, given.words, given.rounds), end="")


if __name__ == "__main__":
    main()
