"""PaddlePaddle as a target: the dygraph classes of ``paddle.optimizer``, or else the bare operator."""
