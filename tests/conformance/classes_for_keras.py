"""Optimizers in Keras as users write them: an honest subclass, and a faulty one."""

import keras


class Honest(keras.optimizers.SGD):
    def __init__(self, learning_rate=0.01, name="honest", **kwargs):
        super().__init__(learning_rate, name=name, **kwargs)


class Doubled(Honest):
    """Applies the learning rate twice."""

    def update_step(self, gradient, variable, learning_rate):
        super().update_step(gradient, variable, learning_rate * learning_rate)
