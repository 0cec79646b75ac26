"""The header of results that are made here."""

import platform
from importlib import metadata

import numpy as np

from optimetry.reports.header import header_of, platform_here
from optimetry.reports.results import SCHEMA_VERSION, Header


def test_a_header_has_what_was_judged_and_with_what():
    here = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}"
    assert platform_here() == here
    made = header_of("torch", "2.13.0", dtypes=["float32"], optimizers=["adam", "sgd"], seed=7, effort="quick")
    assert made == Header(
        schema=SCHEMA_VERSION,
        optimetry=metadata.version("optimetry"),
        target="torch",
        target_version="2.13.0",
        platform=here,
        dtypes=["float32"],
        optimizers=["adam", "sgd"],
        seed=7,
        effort="quick",
    )
    assert (made.about, made.name) == (("torch", "2.13.0"), "torch 2.13.0")
