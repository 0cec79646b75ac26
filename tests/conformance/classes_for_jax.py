"""Optimizers for JAX and Optax as users write them, honest and faulty."""

import jax
import jax.numpy as jnp
import optax


def heavy_ball(learning_rate, beta=0.9, nesterov=False):
    return optax.chain(optax.trace(beta, nesterov), optax.scale_by_learning_rate(learning_rate))


def averaging_ball(learning_rate, beta=0.9, nesterov=False):
    """Damps the gradient that it adds."""
    return optax.chain(optax.ema(beta, debias=False), optax.scale_by_learning_rate(learning_rate))


def bare_ball(learning_rate, beta=0.9, nesterov=False):
    """Keeps an array as its whole state."""

    def update(grad, velocity, params=None):
        velocity = beta * velocity + grad
        return -learning_rate * jnp.where(nesterov, grad + beta * velocity, velocity), velocity

    return optax.GradientTransformation(jnp.zeros_like, update)


def keyed_sgd(learning_rate):
    """Has the key of a random generator in its state, for noise of no size."""
    return optax.chain(optax.add_noise(0.0, 0.55, jax.random.key(0)), optax.sgd(learning_rate))


BRANCHED = []
"""Whether each call of a branch of `branching_sgd` was one of a compiler."""


def branching_sgd(learning_rate):
    """Skips gradients that are not finite, by control flow of JAX."""
    sgd = optax.sgd(learning_rate)

    def update(grads, state, params=None):
        def moved(grads):
            BRANCHED.append(isinstance(grads, jax.core.Tracer))
            return sgd.update(grads, state, params)[0]

        return jax.lax.cond(jnp.isfinite(grads).all(), moved, jnp.zeros_like, grads), state

    return optax.GradientTransformation(sgd.init, update)


def untraceable_sgd(learning_rate, momentum=0.0, nesterov=False):
    """Decides by the value of a hyperparameter, which a compiled function cannot."""
    return optax.sgd(learning_rate, momentum if momentum > 0 else None, nesterov)


def scale(b1=0.9, b2=0.999, eps=1e-8):
    """Leaves the learning rate to others."""
    return optax.scale_by_adam(b1, b2, eps)


def picky_ball(learning_rate, beta=0.9, nesterov=False):
    """Refuses Nesterov's step without momentum."""
    if nesterov and not beta:
        raise ValueError("nesterov needs a momentum")
    return heavy_ball(learning_rate, beta, nesterov)


def descent(step_size, mass=0.9):
    """The triple of Polyak's momentum."""

    def init(param):
        return param, jnp.zeros_like(param)

    def update(i, grad, state):
        param, velocity = state
        velocity = mass * velocity + grad
        return param - step_size * velocity, velocity

    return init, update, lambda state: state[0]


TRACED = []
"""The shapes for which `negative` and `compiled_descent` were traced."""


@jax.jit
def negative(gradient):
    """Is compiled for one shape."""
    TRACED.append(gradient.shape)
    return -gradient


def compiled_within(learning_rate):
    """Descends by a function that is compiled."""

    def update(grads, state, params=None):
        return learning_rate * negative(grads), state

    return optax.GradientTransformation(lambda params: optax.EmptyState(), update)


def compiled_descent(step_size, mass=0.9):
    """The same, its update compiled."""
    init, update, get_params = descent(step_size, mass)

    def traced(i, grad, state):
        TRACED.append(grad.shape)
        return update(i, grad, state)

    return init, jax.jit(traced), get_params


def picky_descent(step_size, mass=0.9):
    """Refuses a momentum of 0."""
    if not mass:
        raise ValueError("mass must not be 0")
    return descent(step_size, mass)


def damped(step_size, mass=0.9):
    """The same with a gradient that is damped."""
    init, update, get_params = descent(step_size, mass)
    return init, lambda i, grad, state: update(i, (1 - mass) * grad, state), get_params


def layered_rates(norm, learning_rate, mass, coefficient, decay):
    """A transformation that is LARS where the norm is that of each parameter."""

    def update(grads, velocities, params):
        def velocity(grad, velocity, param):
            trust = norm(param, params) / (norm(grad, grads) + decay * norm(param, params))
            known = (norm(param, params) > 0) & (norm(grad, grads) > 0)
            rate = learning_rate * jnp.where(known, coefficient * trust, 1)
            return mass * velocity + rate * (grad + decay * param)

        velocities = jax.tree.map(velocity, grads, velocities, params)
        return jax.tree.map(jnp.negative, velocities), velocities

    return optax.GradientTransformation(lambda params: jax.tree.map(jnp.zeros_like, params), update)


def rates_of_each(learning_rate, momentum=0.9, lars_coeff=0.001, lars_weight_decay=0.0):
    """Takes the norm of each parameter, as the document does."""
    alone = (learning_rate, momentum, lars_coeff, lars_weight_decay)
    return layered_rates(lambda leaf, tree: jnp.linalg.norm(leaf.ravel()), *alone)


def rates_of_all(learning_rate, momentum=0.9, lars_coeff=0.001, lars_weight_decay=0.0):
    """Takes the norm of all parameters together."""
    alone = (learning_rate, momentum, lars_coeff, lars_weight_decay)

    def norm(leaf, tree):
        return jnp.sqrt(sum(jnp.sum(array * array) for array in jax.tree.leaves(tree)))

    return layered_rates(norm, *alone)


def triple_of(transformation):
    """The same as a triple."""

    def update(i, grads, state):
        params, inner = state
        updates, inner = transformation.update(grads, inner, params)
        return optax.apply_updates(params, updates), inner

    return lambda params: (params, transformation.init(params)), update, lambda state: state[0]


def triple_of_each(step_size, momentum=0.9, lars_coeff=0.001, lars_weight_decay=0.0):
    return triple_of(rates_of_each(step_size, momentum, lars_coeff, lars_weight_decay))


def triple_of_all(step_size, momentum=0.9, lars_coeff=0.001, lars_weight_decay=0.0):
    return triple_of(rates_of_all(step_size, momentum, lars_coeff, lars_weight_decay))


def pair(step_size, mass=0.9):
    return descent(step_size, mass)[:2]


def once(learning_rate=0.1):
    return optax.sgd(learning_rate)


made_already = once()
