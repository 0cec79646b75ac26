"""MindSpore as a target, on the CPU."""

from __future__ import annotations

import os

os.environ.setdefault("MS_JIT", "0")  # each optimizer is compiled anew otherwise, which takes up to seconds
os.environ.setdefault("GLOG_v", "3")  # of its log, errors alone

import mindspore

from optimetry.conformance.targets.mindspore.table import ABSENT, OFFERS
from optimetry.conformance.targets.offers import TableTarget


class MindsporeTarget(TableTarget):
    """Optimizers of MindSpore on the CPU, uncompiled; one of them updates all parameters, none of which may be left."""

    name = "mindspore"
    version = mindspore.__version__
    offers, absent = OFFERS, ABSENT
    cannot = ("missing gradients",)


target = MindsporeTarget()
