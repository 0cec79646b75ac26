"""Laws judged without an oracle; importing this package enters them all into `LAWS`."""

from optimetry.conformance.laws import documented, universal
from optimetry.conformance.laws.law import LAWS, Law, Trial, in_order

__all__ = ["LAWS", "Law", "Trial", "documented", "in_order", "universal"]
