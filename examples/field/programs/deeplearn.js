// deeplearn.js, which TensorFlow.js was before: its optimizers on the backend in plain JavaScript, in float32. Most of
// them keep the learning rate that they are made with.
const { library, serve } = require("./harness");

const dl = library("deeplearn");

let made = 0; // no name of a variable is used again

const training = (optimizer) => (hyper, parameters) => {
  const variables = parameters.map(({ shape, values }) => dl.variable(dl.tensor(values, shape), true, `parameter ${made++}`));
  let held;
  return (grads, learningRate) => {
    held ??= optimizer(learningRate, hyper);
    const given = {};
    grads.forEach((grad, i) => grad && (given[variables[i].name] = dl.tensor(grad.values, grad.shape)));
    held.applyGradients(given);
    parameters.forEach(({ values }, i) => values.set(variables[i].dataSync()));
  };
};

const adagrad = training((rate, h) => dl.train.adagrad(rate, h.initial_accumulator_value ?? 0));
const adam = training((rate, h) => dl.train.adam(rate, h.beta1, h.beta2, h.epsilon ?? h.eps));
const adamax = training((rate, h) => dl.train.adamax(rate, h.beta1, h.beta2, h.epsilon ?? h.eps));
const adadelta = training((rate, h) => dl.train.adadelta(rate, h.rho, h.epsilon));

const rules = {
  sgd: training((rate) => dl.train.sgd(rate)),
  momentum: training((rate, h) => dl.train.momentum(rate, h.momentum, h.use_nesterov)),
  adagrad,
  decayed_adagrad: training((rate, h) => dl.train.rmsprop(rate, h.decay, 0, h.epsilon)),
  adadelta,
  adam,
  adamax,
  rmsprop: training((rate, h) => dl.train.rmsprop(rate, h.rho, h.momentum, h.epsilon)),
  "papers.adadelta": adadelta,
  "papers.adam": adam,
  "torch.adagrad": adagrad,
  "torch.adam": adam,
  "torch.adamax": adamax,
  "torch.rmsprop": training((rate, h) => dl.train.rmsprop(rate, h.alpha, h.momentum, h.eps)),
  "torch.sgd": training((rate, h) => dl.train.momentum(rate, h.momentum, h.nesterov)),
};

const EPSILON = 1e-8, UNDECAYED = { weight_decay: 0, maximize: false };
const pinned = {
  adagrad: { epsilon: EPSILON },
  rmsprop: { centered: false },
  "torch.adagrad": { ...UNDECAYED, lr_decay: 0, eps: EPSILON },
  "torch.adam": { ...UNDECAYED, amsgrad: false, decoupled_weight_decay: false },
  "torch.adamax": UNDECAYED,
  "torch.rmsprop": { ...UNDECAYED, centered: false },
  "torch.sgd": { ...UNDECAYED, dampening: 0 },
};

const cannot = ["learning rates that change", "empty parameters"];

serve({ name: "deeplearn", dtypes: ["float32"], rules, pinned, cannot });
