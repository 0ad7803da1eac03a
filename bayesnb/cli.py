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
    return parser


def _demo(_: argparse.Namespace) -> int:
    from bayesnb.demo import run

    run()
    return 0
