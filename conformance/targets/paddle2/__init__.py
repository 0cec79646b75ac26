"""PaddlePaddle 2, as the target ``paddle`` has PaddlePaddle 3, under a Python that has it."""
