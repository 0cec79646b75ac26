// JS-PyTorch: its one optimizer, Adam, over nested arrays in float64.
const { library, serve } = require("./harness");

const { torch } = library("js-pytorch");

const nested = (values, [, ...shape]) => {
  if (!shape.length) return Array.from(values);
  const size = shape.reduce((product, extent) => product * extent, 1);
  return Array.from({ length: values.length / size }, (_, i) => nested(values.subarray(i * size, (i + 1) * size), shape));
};
const tensor = ({ shape, values }) => torch.tensor(nested(values, shape), true);

const training = (options) => (hyper, parameters) => {
  const { betas, epsilon, decay } = options(hyper);
  const held = parameters.map(tensor);
  const optimizer = new torch.optim.Adam(held, 1, decay, betas, epsilon);
  return (grads, learningRate) => {
    optimizer.lr = learningRate;
    grads.forEach((grad, i) => (held[i]._grad = tensor(grad)));
    optimizer.step();
    parameters.forEach(({ values }, i) => values.set(held[i]._data.flat(Infinity)));
  };
};

const adam = training(({ beta1, beta2, epsilon }) => ({ betas: [beta1, beta2], epsilon, decay: 0 }));
const adamw = training(({ beta1, beta2, eps, weight_decay }) => ({ betas: [beta1, beta2], epsilon: eps, decay: weight_decay }));

const rules = {
  adam,
  "papers.adam": adam,
  "torch.adamw": adamw,
};

const pinned = { "torch.adamw": { amsgrad: false, maximize: false } };

serve({
  name: "js-pytorch", dtypes: ["float64"], rules, pinned, cannot: ["missing gradients", "0-d parameters", "empty parameters"],
});
