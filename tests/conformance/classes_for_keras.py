"""Optimizers in Keras as users write them: an honest subclass, and a faulty one."""

import keras


class Honest(keras.optimizers.SGD):
    def __init__(self, learning_rate=0.01, name="honest", **kwargs):
        super().__init__(learning_rate, name=name, **kwargs)


class Doubled(Honest):
    """Applies the learning rate twice."""

    def update_step(self, gradient, variable, learning_rate):
        super().update_step(gradient, variable, learning_rate * learning_rate)


class Unnamed(keras.optimizers.Optimizer):
    """Adagrad whose sums do not have the names of their parameters."""

    def __init__(self, learning_rate=0.01, epsilon=1e-6, initial_accumulator_value=0.0, name="unnamed", **kwargs):
        super().__init__(learning_rate, name=name, **kwargs)
        self.epsilon, self.initial = epsilon, initial_accumulator_value

    def build(self, variables):
        if not self.built:
            super().build(variables)
            begin = keras.initializers.Constant(self.initial)
            self.sums = [self.add_variable(x.shape, begin, x.dtype, name=f"sum{i}") for i, x in enumerate(variables)]

    def update_step(self, gradient, variable, learning_rate):
        total = self.sums[self._get_variable_index(variable)]
        self.assign_add(total, keras.ops.square(gradient))
        step = keras.ops.cast(learning_rate, variable.dtype) * gradient
        self.assign_sub(variable, step / (keras.ops.sqrt(total) + self.epsilon))
