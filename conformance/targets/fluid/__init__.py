"""PaddlePaddle 1.8.5 (``paddle.fluid``), the documented library itself, as a target under Python 3.7."""
