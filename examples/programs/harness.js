// A library in JavaScript, and the harness that lets optimetry judge it: optimetry check -- node harness.js

// The library: each optimizer makes a function that updates one parameter in place, and is made for one parameter.
const round = { float32: Math.fround, float64: (x) => x };
const OPTIMIZERS = {
  sgd: (hyper, f) => (p, g, lr) => {
    for (let i = 0; i < p.length; i++) p[i] -= f(f(lr) * g[i]);
  },
  adam: ({ beta1, beta2, epsilon }, f, size) => {
    const m = new Float64Array(size), v = new Float64Array(size);
    let b1 = 1, b2 = 1;
    return (p, g, lr) => {
      b1 = f(b1 * f(beta1)), b2 = f(b2 * f(beta2));
      const rate = f(f(f(lr) * f(Math.sqrt(f(1 - b2)))) / f(1 - b1));
      for (let i = 0; i < p.length; i++) {
        m[i] = f(f(f(beta1) * m[i]) + f(f(1 - f(beta1)) * g[i]));
        v[i] = f(f(f(beta2) * v[i]) + f(f(1 - f(beta2)) * f(g[i] * g[i])));
        p[i] -= f(f(rate * m[i]) / f(f(Math.sqrt(v[i])) + f(epsilon)));
      }
    };
  },
};

// The harness: one line of JSON a request, one line of JSON an answer.
const ARRAYS = { float32: Float32Array, float64: Float64Array };
const decode = ({ dtype, data }) => new ARRAYS[dtype](new Uint8Array(Buffer.from(data, "base64")).buffer);
const encode = (array, { dtype, shape }) => ({ dtype, shape, data: Buffer.from(array.buffer).toString("base64") });

function run({ optimizer, dtype, hyper, parameters, steps }) {
  const values = parameters.map(decode);
  const updates = values.map((p) => OPTIMIZERS[optimizer](hyper, round[dtype], p.length));
  const after = steps.map(({ grads, learning_rate }) => {
    grads.forEach((g, i) => g && updates[i](values[i], decode(g), learning_rate));
    return values.map((p, i) => encode(p, parameters[i]));
  });
  return { after };
}

const dtypes = Object.keys(ARRAYS);
const hello = {
  name: "example.js", version: "1.0", language: `JavaScript, Node ${process.versions.node}`, protocol: 1,
  optimizers: Object.fromEntries(Object.keys(OPTIMIZERS).map((name) => [name, dtypes])),
};
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
