"""The command line: one function a command."""

from __future__ import annotations

import argparse
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after ``bayesnb``; by default those of the process.
    """
    options = _parser().parse_args(arguments)
    return options.run(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bayesnb", description="Naive Bayes as a generative model.")
    commands = parser.add_subparsers(required=True, metavar="command")
    demo = commands.add_parser("demo", help="a tour on the penguins table: closed form, PyMC and predictions")
    demo.set_defaults(run=_demo)
    verify = commands.add_parser("verify", help="check on a table that smoothing is a prior, and both routes are one")
    verify.add_argument("table", nargs="?", help="a CSV file; without one, the penguins")
    verify.add_argument("--target", default="species", help="the column of labels (default: %(default)s)")
    verify.add_argument("--no-sampling", action="store_true", help="leave out the checks that need PyMC")
    verify.add_argument("--seed", type=int, default=1, help="of the random numbers (default: %(default)s)")
    verify.set_defaults(run=_verify)
    return parser


def _demo(_: argparse.Namespace) -> int:
    from bayesnb.demo import run

    run()
    return 0


def _verify(options: argparse.Namespace) -> int:
    from bayesnb.equivalence.command import verify

    result = verify(options.table, options.target, sampling=not options.no_sampling, random_seed=options.seed)
    print(result)
    return 0 if result.holds else 1
