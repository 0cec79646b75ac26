// TensorFlow.js' optimizers on its backend in plain JavaScript: npm install @tensorflow/tfjs && optimetry check tfjs
const { createInterface } = require("readline");

// Which optimizer stands for each rule, and what its arguments are given. An argument for which a document has no
// number is left to the library.
const OPTIMIZERS = {
  sgd: (tf) => tf.train.sgd(1),
  momentum: (tf, h) => tf.train.momentum(1, h.momentum, h.use_nesterov),
  adagrad: (tf, h) => tf.train.adagrad(1, h.initial_accumulator_value),
  // RMSProp without momentum comes nearest to the decayed Adagrad of the documents; no other decays the sum.
  decayed_adagrad: (tf, h) => tf.train.rmsprop(1, h.decay, 0, h.epsilon),
  adadelta: (tf, h) => tf.train.adadelta(1, h.rho, h.epsilon),
  adam: (tf, h) => tf.train.adam(1, h.beta1, h.beta2, h.epsilon),
  adamax: (tf, h) => tf.train.adamax(1, h.beta1, h.beta2, h.epsilon),
  rmsprop: (tf, h) => tf.train.rmsprop(1, h.rho, h.momentum, h.epsilon, h.centered),
  "torch.sgd": (tf, h) => tf.train.momentum(1, h.momentum, h.nesterov),
  "torch.adagrad": (tf, h) => tf.train.adagrad(1, h.initial_accumulator_value),
  "torch.adadelta": (tf, h) => tf.train.adadelta(1, h.rho, h.eps),
  "torch.adam": (tf, h) => tf.train.adam(1, h.beta1, h.beta2, h.eps),
  "torch.adamax": (tf, h) => tf.train.adamax(1, h.beta1, h.beta2, h.eps),
  "torch.rmsprop": (tf, h) => tf.train.rmsprop(1, h.alpha, h.momentum, h.eps, h.centered),
  "papers.adagrad": (tf) => tf.train.adagrad(1, 0),
  "papers.adadelta": (tf, h) => tf.train.adadelta(1, h.rho, h.epsilon),
  "papers.adam": (tf, h) => tf.train.adam(1, h.beta1, h.beta2, h.epsilon),
  "papers.adamax": (tf, h) => tf.train.adamax(1, h.beta1, h.beta2),
};

// What has no argument: Adagrad's epsilon is the backend's, and nothing decays or maximizes.
const EPSILON = 1e-7, UNDECAYED = { weight_decay: 0, maximize: false };
const pinned = {
  adagrad: { epsilon: EPSILON },
  "torch.sgd": { ...UNDECAYED, dampening: 0 },
  "torch.adagrad": { ...UNDECAYED, lr_decay: 0, eps: EPSILON },
  "torch.adadelta": UNDECAYED,
  "torch.adam": { ...UNDECAYED, amsgrad: false, decoupled_weight_decay: false },
  "torch.adamax": UNDECAYED,
  "torch.rmsprop": UNDECAYED,
  "papers.adagrad": { delta: EPSILON },
};

// A number that JSON does not have comes as its name.
const number = (value) => (typeof value === "string" ? Number(value) : value);

const ARRAYS = { float32: Float32Array, int32: Int32Array };

function tensor(tf, { dtype, shape, data }) {
  return tf.tensor(new ARRAYS[dtype](new Uint8Array(Buffer.from(data, "base64")).buffer), shape, dtype);
}

function encoded(held) {
  const data = Buffer.from(held.dataSync().slice().buffer).toString("base64");
  return { dtype: held.dtype, shape: held.shape, data };
}

// One optimizer, and the variables that it updates.
class Training {
  constructor(tf, { optimizer, hyper, parameters }) {
    const given = Object.fromEntries(Object.entries(hyper).map(([name, value]) => [name, number(value)]));
    this.tf = tf;
    this.optimizer = OPTIMIZERS[optimizer](tf, given);
    this.variables = parameters.map((parameter) => tf.tidy(() => tf.variable(tensor(tf, parameter))));
  }

  step({ grads, learning_rate }) {
    const rate = number(learning_rate);
    if (this.optimizer.setLearningRate) this.optimizer.setLearningRate(rate);
    this.optimizer.learningRate = rate; // what optimizers without that method read
    this.tf.tidy(() => {
      const named = ({ name }, i) => ({ name, tensor: grads[i] && tensor(this.tf, grads[i]) });
      this.optimizer.applyGradients(this.variables.map(named));
    });
    return this.variables.map(encoded);
  }

  // What the library saves, in its order; an error where it has no such method for this optimizer.
  async state() {
    const weights = await this.optimizer.getWeights();
    const state = { weights: weights.map(({ tensor }) => encoded(tensor)) };
    this.tf.dispose(weights[0].tensor); // the number of iterations, of which the others are none
    return state;
  }

  async load({ weights }) {
    await this.optimizer.setWeights(weights.map((saved, i) => ({ name: `saved/${i}`, tensor: tensor(this.tf, saved) })));
  }

  end() {
    this.optimizer.dispose();
    this.tf.dispose(this.variables);
  }
}

function whole(tf, request) {
  const training = new Training(tf, request);
  const after = request.steps.map((step) => training.step(step));
  training.end();
  return { after };
}

const started = new Map();

async function answered(tf, request) {
  const { run } = request;
  if (request.do === "hello") return hello(tf);
  if (request.do === "run") return whole(tf, request);
  if (request.do === "start") {
    const training = new Training(tf, request);
    started.set(run, training);
    return { run, resumable: await training.state().then(() => true, () => false) };
  }
  const training = started.get(run);
  if (request.do === "step") return { run, after: training.step(request) };
  if (request.do === "state") return { run, state: await training.state() };
  if (request.do === "load") await training.load(request.state);
  if (request.do === "end") training.end(), started.delete(run);
  return { run };
}

const hello = (tf) => ({
  name: "tfjs", version: tf.version.tfjs, language: `JavaScript, Node ${process.versions.node}`, protocol: 1,
  engines: ["cpu"], stateful: true, pinned,
  optimizers: Object.fromEntries(Object.keys(OPTIMIZERS).map((name) => [name, ["float32"]])),
});

// The library is that of the directory in which the program is started, else of NODE_PATH.
function library() {
  let tf;
  try {
    tf = require(require.resolve("@tensorflow/tfjs", { paths: [process.cwd(), __dirname] }));
  } catch (error) {
    if (error.code !== "MODULE_NOT_FOUND") throw error;
    throw new Error("@tensorflow/tfjs is not found from this directory or in NODE_PATH");
  }
  return tf.setBackend("cpu").then(() => tf);
}

let loaded;
createInterface({ input: process.stdin }).on("line", async (line) => {
  const request = JSON.parse(line);
  if (request.do === "bye") process.exit(0);
  let answer;
  try {
    answer = await answered(await (loaded ??= library()), request);
  } catch (error) {
    answer = { error: String(error) };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
});
