// What the harnesses of this folder have in common: a library that is found in the folder of the first argument, arrays,
// and the loop over lines that docs/another-language.md explains.
const path = require("path");
const { createInterface } = require("readline");

const FOLDER = process.argv[2];
const ARRAYS = { float32: Float32Array, float64: Float64Array };

const library = (name) => require(require.resolve(name, { paths: [FOLDER] }));
const version = (name) => require(path.resolve(FOLDER, "node_modules", name, "package.json")).version;

// A number that JSON does not have comes as its name.
const number = (value) => (typeof value === "string" ? Number(value) : value);

function decoded({ dtype, shape, data }) {
  return { shape, values: new ARRAYS[dtype](new Uint8Array(Buffer.from(data, "base64")).buffer) };
}

function encoded({ shape, values }, dtype) {
  return { dtype, shape, data: Buffer.from(values.slice().buffer).toString("base64") };
}

// Answers for a library. Each of its `rules` is given hyperparameters and parameters, which have a shape and values, and
// returns what makes one update of these values in place, given gradients of the same form or null, and a learning rate.
function serve({ name, rules, dtypes, ...limits }) {
  const hello = {
    name, version: version(name), language: `JavaScript, Node ${process.versions.node}`, protocol: 1, ...limits,
    optimizers: Object.fromEntries(Object.keys(rules).map((rule) => [rule, dtypes])),
  };

  function run({ optimizer, dtype, hyper, parameters, steps }) {
    const given = Object.fromEntries(Object.entries(hyper).map(([key, value]) => [key, number(value)]));
    const held = parameters.map(decoded);
    const update = rules[optimizer](given, held);
    const after = steps.map(({ grads, learning_rate }) => {
      update(grads.map((grad) => grad && decoded(grad)), number(learning_rate));
      return held.map((parameter) => encoded(parameter, dtype));
    });
    return { after };
  }

  createInterface({ input: process.stdin }).on("line", (line) => {
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
}

module.exports = { library, serve };
