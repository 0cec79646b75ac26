// TensorFlow.js: npm install @tensorflow/tfjs@4.22.0 && optimetry check -- node examples/programs/tfjs.js
const tf = require(require.resolve("@tensorflow/tfjs", { paths: [process.cwd(), __dirname] }));

// Each entry makes an optimizer. What has no argument is pinned in hello.
const OPTIMIZERS = {
  sgd: () => tf.train.sgd(1),
  momentum: (h) => tf.train.momentum(1, h.momentum, h.use_nesterov),
  adagrad: (h) => tf.train.adagrad(1, h.initial_accumulator_value),
  adadelta: (h) => tf.train.adadelta(1, h.rho, h.epsilon),
  adam: (h) => tf.train.adam(1, h.beta1, h.beta2, h.epsilon),
  adamax: (h) => tf.train.adamax(1, h.beta1, h.beta2, h.epsilon),
  rmsprop: (h) => tf.train.rmsprop(1, h.rho, h.momentum, h.epsilon, h.centered),
};
// An epsilon of 0 is an argument like others; that of Adagrad is the backend's.
const pinned = { adagrad: { epsilon: 1e-7 } };

function tensor({ shape, data }) {
  return tf.tensor(new Float32Array(new Uint8Array(Buffer.from(data, "base64")).buffer), shape, "float32");
}

function encoded(variable) {
  const data = Buffer.from(variable.dataSync().slice().buffer).toString("base64");
  return { dtype: "float32", shape: variable.shape, data };
}

function run({ optimizer, hyper, parameters, steps }) {
  tf.engine().startScope();
  const made = OPTIMIZERS[optimizer](hyper);
  const variables = parameters.map((parameter) => tf.variable(tensor(parameter)));
  const after = steps.map(({ grads, learning_rate }) => {
    if (made.setLearningRate) made.setLearningRate(learning_rate);
    made.learningRate = learning_rate; // what optimizers without that method read
    made.applyGradients(variables.map(({ name }, i) => ({ name, tensor: grads[i] && tensor(grads[i]) })));
    return variables.map(encoded);
  });
  made.dispose();
  tf.dispose(variables);
  tf.engine().endScope();
  return { after };
}

const hello = {
  name: "tfjs", version: tf.version.tfjs, protocol: 1, engines: ["cpu"], pinned,
  language: `JavaScript, Node ${process.versions.node}`,
  optimizers: Object.fromEntries(Object.keys(OPTIMIZERS).map((name) => [name, ["float32"]])),
};
tf.setBackend("cpu").then(() => {
  require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const request = JSON.parse(line);
    if (request.do === "bye") process.exit(0);
    let answer;
    try {
      answer = request.do === "hello" ? hello : run(request);
    } catch (error) {
      answer = { error: String(error) };
    }
    process.stdout.write(JSON.stringify(answer) + "\n");
  });
});
