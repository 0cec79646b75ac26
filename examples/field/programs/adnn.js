// adnn: optimizers over nested structures of tensors, in float64. A gradient that is missing is left out of the structure.
const { library, serve } = require("./harness");

const { opt, Tensor } = { opt: library("adnn/opt"), Tensor: library("adnn/tensor") };

const tensor = ({ shape, values }) => {
  const made = new Tensor(shape);
  made.data.set(values);
  return made;
};

// One method for all parameters, which is told how many updates came before; the step size is asked for in each of them.
const training = (made) => (hyper, parameters) => {
  let rate, updates = 0;
  const method = made({ stepSize: () => rate, ...hyper });
  const held = { ...parameters.map(tensor) };
  return (grads, learningRate) => {
    rate = learningRate;
    const given = {};
    grads.forEach((grad, i) => grad && (given[i] = tensor(grad)));
    method(given, held, updates++);
    parameters.forEach(({ values }, i) => values.set(held[i].data));
  };
};

const sgd = training(({ stepSize }) => opt.sgd({ stepSize, mu: 0 }));
const adagrad = training(({ stepSize }) => opt.adagrad({ stepSize }));
const adam = training(({ stepSize, beta1, beta2 }) => opt.adam({ stepSize, decayRate1: beta1, decayRate2: beta2 }));

const rules = {
  sgd,
  momentum: training(({ stepSize, momentum }) => opt.sgd({ stepSize, mu: momentum })),
  adagrad,
  decayed_adagrad: training(({ stepSize, decay }) => opt.rmsprop({ stepSize, decayRate: decay })),
  adam,
  "papers.adagrad": adagrad,
  "papers.adam": adam,
  "torch.adagrad": adagrad,
  "torch.rmsprop": training(({ stepSize, alpha }) => opt.rmsprop({ stepSize, decayRate: alpha })),
};

const EPSILON = 1e-8, UNDECAYED = { weight_decay: 0, maximize: false };
const pinned = {
  momentum: { use_nesterov: false },
  adagrad: { epsilon: EPSILON, initial_accumulator_value: 0 },
  decayed_adagrad: { epsilon: EPSILON },
  adam: { epsilon: EPSILON },
  "papers.adagrad": { delta: EPSILON },
  "papers.adam": { epsilon: EPSILON },
  "torch.adagrad": { ...UNDECAYED, lr_decay: 0, initial_accumulator_value: 0, eps: EPSILON },
  "torch.rmsprop": { ...UNDECAYED, momentum: 0, centered: false, eps: EPSILON },
};

serve({ name: "adnn", dtypes: ["float64"], rules, pinned });
