"""``paddle.optimizer``: pages 001 and 002. Arguments stand in the order of page 000; later ones are keywords."""

from optimetry.paddle.optimizer import lr
from optimetry.reference.documented import (
    ASGD,
    SGD,
    Adadelta,
    Adagrad,
    Adam,
    Adamax,
    Lamb,
    Momentum,
    Optimizer,
    RMSProp,
)

__all__ = ["ASGD", "SGD", "Adadelta", "Adagrad", "Adam", "Adamax", "Lamb", "Momentum", "Optimizer", "RMSProp", "lr"]
