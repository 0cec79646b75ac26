"""Optimizers in NumPy as users write them, in the forms that are known, and faulty ones."""

from types import SimpleNamespace

import numpy as np


class OfParameters:
    """Made of its parameters."""

    def __init__(self, params, lr=0.1, mu=0.9, nesterov=False):
        self.params, self.lr, self.mu, self.nesterov = params, lr, mu, nesterov
        self.velocities = [np.zeros_like(param) for param in params]

    def step(self, grads):
        for param, velocity, grad in zip(self.params, self.velocities, grads, strict=True):
            if grad is not None:
                velocity[...] = self.mu * velocity + grad
                param[...] -= param.dtype.type(self.lr) * self.direction(velocity, grad)

    def direction(self, velocity, grad):
        return grad + self.mu * velocity if self.nesterov else velocity


class StateOfTheClass(OfParameters):
    """Has its velocities on the class, which are new where an optimizer is made."""

    def __init__(self, params, lr=0.1, mu=0.9, nesterov=False):
        super().__init__(params, lr, mu, nesterov)
        type(self).velocities = self.__dict__.pop("velocities")


class StateByShape(OfParameters):
    """Has velocities on the class by place and shape; those of an optimizer that is made are cleared."""

    kept = {}  # noqa: RUF012 - the fault

    def __init__(self, params, lr=0.1, mu=0.9, nesterov=False):
        super().__init__(params, lr, mu, nesterov)
        new = enumerate(self.velocities)
        self.velocities = [self.kept.setdefault((i, velocity.shape), velocity) for i, velocity in new]
        for velocity in self.velocities:
            velocity[...] = 0


class PassesOn(OfParameters):
    """Has the arguments of the class it is made from."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)


class NeverNesterov(OfParameters):
    """Ignores the flag."""

    def direction(self, velocity, grad):
        return velocity


class OfLists:
    """Given lists at every step; it does not know missing gradients."""

    def __init__(self, learning_rate=0.1):
        self.learning_rate = learning_rate

    def update(self, params, grads):
        return [param - param.dtype.type(self.learning_rate) * grad for param, grad in zip(params, grads, strict=True)]


class GradientsFirst(OfLists):
    """Its step says by names that gradients come before parameters."""

    def update(self, grads, params):
        return super().update(params, grads)


class Scales:
    """Scales the gradient that it is given in place."""

    def update(self, weight, grad, lr):
        grad *= grad.dtype.type(lr)
        return weight - grad


class Keeps:
    """Keeps the array of its first gradient as momentum."""

    def __init__(self):
        self.velocity = None

    def update(self, weight, grad, lr):
        velocity = grad if self.velocity is None else self.velocity
        self.velocity = velocity
        return weight - grad.dtype.type(lr) * velocity


class OfLayers:
    """Its step takes neither parameters nor gradients."""

    def __init__(self, learning_rate=0.1):
        self.learning_rate = learning_rate

    def update(self, layer):
        layer.weights -= self.learning_rate * layer.dweights


class RateOfTheConstructor(OfLists):
    """Keeps its learning rate where no step can change it."""

    def __init__(self, eta):
        self._at = lambda params, grads: OfLists(eta).update(params, grads)

    def update(self, params, grads):
        return self._at(params, grads)


class NeverEmpty(OfLists):
    """Fails on a parameter without elements."""

    def update(self, params, grads):
        self.largest = [param.max() for param in params]
        return super().update(params, grads)


class NeverInfinite(OfLists):
    """Fails on a gradient whose sum is no finite number."""

    def update(self, params, grads):
        self.sums = [round(float(grad.sum())) for grad in grads]
        return super().update(params, grads)


class NeverAnEmptyMatrix(OfLists):
    """Fails on a matrix without elements, whose rows may have any length, and takes empty vectors."""

    def update(self, params, grads):
        self.rows = [param.reshape(len(param), -1) for param in params if param.ndim > 1]
        return super().update(params, grads)


class OfDictionaries:
    """Given dictionaries at every step, as textbooks have them; it puts new arrays in the places of others."""

    def __init__(self, lr=0.1, rho=0.9, eps=1e-6):
        self.lr, self.rho, self.eps, self.squares = lr, rho, eps, {}

    def update(self, params, grads):
        for name, grad in grads.items():
            before = self.squares.get(name, np.zeros_like(grad))
            self.squares[name] = self.rho * before + (1 - self.rho) * grad * grad
            step = grad.dtype.type(self.lr) * grad / (np.sqrt(self.squares[name]) + self.eps)
            params[name] = params[name] - step


class ReturnsDictionaries(OfDictionaries):
    """Returns a new dictionary, and fails for a parameter without a gradient."""

    def update(self, params, grads):
        after = {name: param.copy() for name, param in params.items()}
        super().update(after, {name: grads[name] for name in params})
        return after


class ReturnsWhatHasAGradient(OfDictionaries):
    """Returns a dictionary without the parameters that have no gradient."""

    def update(self, params, grads):
        super().update(params, grads)
        return {name: params[name] for name in grads}


class OfNamedParameters(OfDictionaries):
    """Made of a dictionary of its parameters."""

    def __init__(self, params, lr=0.1, rho=0.9, eps=1e-6):
        super().__init__(lr, rho, eps)
        self.params = params

    def step(self, grads):
        super().update(self.params, grads)


class FirstOfDictionaries(OfDictionaries):
    """Updates the parameter of the first name, and the others by its gradient if they have its shape."""

    def update(self, params, grads):
        first = next(iter(grads.values()), None)
        super().update(params, {name: first if first.shape == grad.shape else grad for name, grad in grads.items()})


class OfArrays:
    """Given one array at every step, with the learning rate."""

    def __init__(self, lr=0.1, rho=0.9, eps=1e-6):
        self.rho, self.eps, self.square = rho, eps, 0.0

    def update(self, weight, grad, lr):
        self.square = self.rho * self.square + (1 - self.rho) * grad * grad
        return weight - weight.dtype.type(lr) * grad / (np.sqrt(self.square) + self.eps)


class OfGains(OfArrays):
    """Asks for what a new square adds, where the document has what the old average keeps."""

    def __init__(self, lr=0.1, gain=0.1, eps=1e-6):
        super().__init__(lr, 1 - gain, eps)


class ForgetsRate(OfArrays):
    """Has no attribute for the learning rate, and takes none."""

    def __init__(self, rho=0.9, eps=1e-6):
        super().__init__(rho=rho, eps=eps)

    def update(self, weight, grad):
        return super().update(weight, grad, 0.1)


class RateOfTheStep:
    """Given the learning rate with every step alone."""

    def __init__(self, decay=0.95, eps=1e-6):
        self.rule = OfArrays(rho=decay, eps=eps)

    def update(self, weight, grad, step_length):
        return self.rule.update(weight, grad, step_length)


def closure(momentum=0.9, nesterov=False):
    """A function that makes an object with a step."""
    made = []

    def step(parameters, grads, learning_rate=0.1):
        made[:] = made or [OfParameters(parameters, mu=momentum, nesterov=nesterov)]
        made[0].lr = learning_rate
        made[0].step(grads)

    return SimpleNamespace(step=step)


class Picky(OfParameters):
    """Refuses Nesterov's step without momentum, as torch's SGD does."""

    def __init__(self, params, lr=0.1, mu=0.9, nesterov=False):
        if nesterov and not mu:
            raise ValueError("nesterov needs a momentum")
        super().__init__(params, lr, mu, nesterov)


class Asserting(OfParameters):
    """The same by an assertion."""

    def __init__(self, params, lr=0.1, mu=0.9, nesterov=False):
        assert mu or not nesterov, "nesterov needs a momentum"
        super().__init__(params, lr, mu, nesterov)


class InFloat64:
    """Given one array at every step, and returns float64 whatever that is of."""

    def __init__(self, lr=0.1):
        self.lr = lr

    def update(self, weight, grad):
        return weight - np.array(self.lr) * grad.astype(np.float64)


class HastyLion:
    """Lion whose momentum takes the gradient before the step is made of it."""

    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        self.params, self.lr, self.betas, self.weight_decay = params, lr, betas, weight_decay
        self.momenta = [np.zeros_like(param) for param in params]

    def step(self, grads):
        b1, b2 = self.betas
        for param, momentum, grad in zip(self.params, self.momenta, grads, strict=True):
            if grad is not None:
                momentum[...] = b2 * momentum + (1 - b2) * grad
                param[...] -= self.lr * (np.sign(b1 * momentum + (1 - b1) * grad) + self.weight_decay * param)


def plain_sgd(param, grad, lr=0.1):
    """Does a step, and makes no optimizer."""
    return param - lr * grad


class NoStep:
    def __init__(self, lr=0.1):
        pass


instance = OfArrays()


def nothing():
    """Makes no optimizer."""
