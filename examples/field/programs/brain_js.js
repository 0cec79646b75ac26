// brain.js: a network of one layer for each parameter, which is its weights, or its biases where the second argument says
// so; in float32. Deltas are negated gradients. What biases have for an optimizer without Adam is SGD.
const { library, serve } = require("./harness");

const { NeuralNetwork } = library("brain.js");

const biases = process.argv[3] === "biases";

const training = (praxis, options) => (hyper, parameters) => {
  const networks = parameters.map(({ values }) => {
    const network = new NeuralNetwork({ inputSize: 1, hiddenLayers: [], outputSize: values.length, praxis });
    network.initialize();
    network.outputs[0][0] = 1;
    if (biases) network.biases[1].set(values);
    else values.forEach((value, i) => (network.weights[1][i][0] = value));
    return network;
  });
  return (grads, learningRate) => {
    networks.forEach((network, i) => {
      if (!grads[i]) return;
      Object.assign(network.trainOpts, options(hyper), { learningRate });
      network.deltas[1].set(grads[i].values.map((value) => -value));
      network.adjustWeights();
      parameters[i].values.set(biases ? network.biases[1] : network.weights[1].map(([weight]) => weight));
    });
  };
};

const adam = training("adam", ({ beta1, beta2, epsilon }) => ({ beta1, beta2, epsilon }));

const rules = {
  sgd: training(undefined, () => ({})),
  momentum: training(undefined, ({ momentum }) => ({ momentum })),
  adam,
  "papers.adam": adam,
};
delete rules[biases ? "momentum" : "sgd"];

const pinned = { momentum: { use_nesterov: false } };

serve({ name: "brain.js", dtypes: ["float32"], rules, pinned, cannot: ["empty parameters"] });
