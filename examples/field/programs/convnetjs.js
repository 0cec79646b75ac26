// ConvNetJS: one trainer for all weights of a net, in float64. The net here has weights and gradients, and no layers.
const { library, serve } = require("./harness");

const { Trainer } = library("convnetjs");

const training = (options) => (hyper, parameters) => {
  let grads;
  const net = {
    forward: () => {},
    backward: () => 0,
    getParamsAndGrads: () => parameters.map(({ values }, i) => ({ params: values, grads: grads[i].values })),
  };
  const trainer = new Trainer(net, options(hyper));
  return (given, learningRate) => {
    grads = given;
    trainer.learning_rate = learningRate;
    trainer.train();
  };
};

const rules = {
  sgd: training(() => ({ method: "sgd", momentum: 0 })),
  momentum: training(({ momentum }) => ({ method: "sgd", momentum })),
  adagrad: training(({ epsilon }) => ({ method: "adagrad", eps: epsilon })),
  adadelta: training(({ rho, epsilon }) => ({ method: "adadelta", ro: rho, eps: epsilon })),
  decayed_adagrad: training(({ decay, epsilon }) => ({ method: "windowgrad", ro: decay, eps: epsilon })),
  "torch.sgd": training(({ momentum, weight_decay }) => ({ method: "sgd", momentum, l2_decay: weight_decay })),
};

const pinned = {
  momentum: { use_nesterov: false },
  adagrad: { initial_accumulator_value: 0 },
  "torch.sgd": { dampening: 0, nesterov: false, maximize: false },
};

serve({ name: "convnetjs", dtypes: ["float64"], rules, pinned, cannot: ["missing gradients"] });
