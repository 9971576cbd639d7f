"""Prints what Bitwuzla says of an SMT-LIB script, the one argument: sat, unsat, or unknown after five minutes."""
import sys

from bitwuzla import Option, Options, Parser, TermManager

options = Options()
options.set(Option.TIME_LIMIT_PER, 300_000)
Parser(TermManager(), options).parse(sys.argv[1])
