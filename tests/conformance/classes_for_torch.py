"""Optimizers in torch as users write them: an honest one with names of its own, and faulty ones."""

import torch


class HonestAdam(torch.optim.Optimizer):
    """The documented rule, with its state under names of its own; `count` says where it counts."""

    def __init__(self, params, learning_rate=1e-3, decays=(0.9, 0.999), tiny=1e-8):
        super().__init__(params, {"lr": learning_rate, "decays": decays, "tiny": tiny})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for param in group["params"]:
                if param.grad is not None:
                    state = self.state[param]
                    if not state:
                        state.update(m=torch.zeros_like(param), v=torch.zeros_like(param))
                    self.update(param, state, group, self.count(state, group))

    def count(self, state, group):
        state["t"] = state.get("t", 0) + 1
        return state["t"]

    def update(self, param, state, group, t):
        beta1, beta2 = group["decays"]
        state["m"].mul_(beta1).add_(param.grad, alpha=1 - beta1)
        state["v"].mul_(beta2).addcmul_(param.grad, param.grad, value=1 - beta2)
        rate = group["lr"] * (1 - beta2**t) ** 0.5 / (1 - beta1**t)
        param.addcdiv_(state["m"], state["v"].sqrt().add_(group["tiny"]), value=-rate)


class GroupCounted(HonestAdam):
    """Counts steps in the group, also of parameters that have no gradient."""

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            group["t"] = group.get("t", 0) + 1
        super().step()

    def count(self, state, group):
        return group["t"]


class GroupCountedInATensor(GroupCounted):
    """The same, in a tensor of the group."""

    def step(self, closure=None):
        for group in self.param_groups:
            group.setdefault("t", torch.tensor(0))
        super().step()

    def count(self, state, group):
        return int(group["t"])


class KeepsNone(HonestAdam):
    """Keeps None where it has nothing to say, and looks there in every step."""

    def update(self, param, state, group, t):
        assert t == 1 or state["note"] is None
        state["note"] = None
        super().update(param, state, group, t)


class CountsForAll(HonestAdam):
    """Counts the steps of all parameters in one attribute, which is not saved."""

    steps = 0

    def step(self, closure=None):
        self.steps += 1
        return super().step(closure)

    def count(self, state, group):
        return self.steps


class CountsInAnAttribute(HonestAdam):
    """Counts the steps of each parameter in an attribute, which its own methods save and load."""

    def __init__(self, *arguments, **keywords):
        super().__init__(*arguments, **keywords)
        self.steps = {}

    def count(self, state, group):
        everything = (param for each in self.param_groups for param in each["params"])
        key = next(i for i, param in enumerate(everything) if self.state[param] is state)
        self.steps[key] = self.steps.get(key, 0) + 1
        return self.steps[key]

    def state_dict(self):
        return {**super().state_dict(), "steps": self.steps}

    def load_state_dict(self, state_dict):
        super().load_state_dict(state_dict)
        self.steps = state_dict["steps"]


class LoadsInSingle(HonestAdam):
    """Casts what it loads to float32."""

    def load_state_dict(self, state_dict):
        super().load_state_dict(state_dict)
        for state in self.state.values():
            state["v"] = state["v"].float().to(state["v"].dtype)


class Squared(HonestAdam):
    """Forgets to square the gradient of the second moment."""

    def update(self, param, state, group, t):
        beta1, beta2 = group["decays"]
        state["m"].mul_(beta1).add_(param.grad, alpha=1 - beta1)
        state["v"].mul_(beta2).add_(param.grad.abs(), alpha=1 - beta2)
        rate = group["lr"] * (1 - beta2**t) ** 0.5 / (1 - beta1**t)
        param.addcdiv_(state["m"], state["v"].sqrt().add_(group["tiny"]), value=-rate)


class SparseAlone(torch.optim.Optimizer):
    """Plain descent that takes sparse gradients alone."""

    def __init__(self, params, lr=1e-3):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for param in group["params"]:
                if param.grad is not None:
                    if not param.grad.is_sparse:
                        raise RuntimeError("no dense gradients, please")
                    param.add_(param.grad, alpha=-group["lr"])


class NeedsClosure(SparseAlone):
    def step(self, closure):
        closure()


class NeedsEpoch(SparseAlone):
    def step(self, epoch, closure=None):
        super().step()


class AsksForClosure(SparseAlone):
    def step(self, closure=None):
        assert closure is not None, "a closure is needed"


class NoStep(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3):
        super().__init__(params, {"lr": lr})


class NoRate(SparseAlone):
    def __init__(self, params, lr=1e-3):
        torch.optim.Optimizer.__init__(self, params, {"speed": lr})


class NeedsMore(SparseAlone):
    def __init__(self, params, total_steps, lr=1e-3):
        super().__init__(params, lr)


class Picky(HonestAdam):
    """Refuses an epsilon of zero, and a decay, as constructors do."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        if eps == 0:
            raise ValueError("Invalid epsilon value: 0")
        super().__init__(params, lr, betas, eps)


class ListsInTheGroup(HonestAdam):
    """Keeps the state of its parameters in a list of the group."""

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            kept = group.setdefault("kept", [{} for _ in group["params"]])
            for param, state in zip(group["params"], kept, strict=True):
                if param.grad is not None:
                    if not state:
                        state.update(m=torch.zeros_like(param), v=torch.zeros_like(param))
                    self.update(param, state, group, self.count(state, group))


class KeepsTheGradient(HonestAdam):
    """Momentum whose buffer is the tensor of the first gradient, not a copy of it."""

    def __init__(self, params, lr=1e-2, momentum=0.9):
        torch.optim.Optimizer.__init__(self, params, {"lr": lr, "momentum": momentum})

    def update(self, param, state, group, t):
        if "buffer" in state:
            state["buffer"].mul_(group["momentum"]).add_(param.grad)
        else:
            state["buffer"] = param.grad
        param.add_(state["buffer"], alpha=-group["lr"])


class RateOfTheFirstGroup(HonestAdam):
    """Takes the learning rate of all groups from the first."""

    def update(self, param, state, group, t):
        super().update(param, state, {**group, "lr": self.param_groups[0]["lr"]}, t)


class OptionsOfTheFirstGroup(HonestAdam):
    """Takes all options but the learning rate from the first group."""

    def update(self, param, state, group, t):
        super().update(param, state, {**self.param_groups[0], "lr": group["lr"]}, t)


class OptionsOfTheClass(HonestAdam):
    """Takes all options but the learning rate from what the constructor was given."""

    def update(self, param, state, group, t):
        super().update(param, state, {**self.defaults, "lr": group["lr"]}, t)


class ListsItsParameters(HonestAdam):
    """Trains the parameters that it was made of, and none that is added."""

    def __init__(self, *arguments, **keywords):
        super().__init__(*arguments, **keywords)
        self.trained = {param for group in self.param_groups for param in group["params"]}

    def update(self, param, state, group, t):
        if param in self.trained:
            super().update(param, state, group, t)


class AddsWithDefaults(HonestAdam):
    """Gives a group that is added later the options of the class in place of its own."""

    def add_param_group(self, param_group):
        later = bool(self.state)
        super().add_param_group(param_group)
        if later:
            param_group.update({**self.defaults, "lr": param_group["lr"]})


class KeepsOptionsInAttributes(HonestAdam):
    """Has its options in attributes, so that groups differ in their learning rates alone."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        torch.optim.Optimizer.__init__(self, params, {"learning_rate": lr, "lr": lr})
        self.betas, self.eps = betas, eps

    def update(self, param, state, group, t):
        super().update(param, state, {**group, "decays": self.betas, "tiny": self.eps}, t)


class RefusesGroups(HonestAdam):
    """Refuses more groups than one, as torch's LBFGS does."""

    def add_param_group(self, param_group):
        if self.param_groups:
            raise ValueError("no parameter groups, please")
        super().add_param_group(param_group)


class StateAsTheFirst(HonestAdam):
    """Keeps moments in the dtype of the group's first parameter."""

    def update(self, param, state, group, t):
        kind = group["params"][0].dtype
        for name in ("m", "v"):
            state[name] = state[name].to(kind).to(param.dtype)
        super().update(param, state, group, t)


class OneDtype(HonestAdam):
    """Refuses parameters of several dtypes."""

    def step(self, closure=None):
        if len({param.dtype for group in self.param_groups for param in group["params"]}) > 1:
            raise TypeError("one dtype, please")
        super().step()


class KeepsItsOptions(HonestAdam):
    """Loads the state alone, and not the options that are saved with it."""

    def load_state_dict(self, state_dict):
        options = [{**group} for group in self.param_groups]
        super().load_state_dict(state_dict)
        for group, kept in zip(self.param_groups, options, strict=True):
            group.update(decays=kept["decays"], tiny=kept["tiny"])


class RollsBackToDefaults(HonestAdam):
    """Sets options back to those of the constructor when it loads."""

    def load_state_dict(self, state_dict):
        super().load_state_dict(state_dict)
        for group in self.param_groups:
            group.update(self.defaults)


class KeepsItsState(HonestAdam):
    """Keeps the state of parameters that what it loads does not have yet."""

    def load_state_dict(self, state_dict):
        before = dict(self.state)
        super().load_state_dict(state_dict)
        for param, state in before.items():
            self.state.setdefault(param, state)
