// Judges an optimizer by test vectors, without optimetry: node reader.js vectors/fluid/adam-*.json

// The implementation: makes a function that updates one parameter in place. f rounds to the dtype.
function adam({ beta1, beta2, epsilon }, size, f) {
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
}

// The reader: bits are little-endian elements, other numbers hex floats, and what is too short begins again.
const ARRAYS = { float32: Float32Array, float64: Float64Array };
const at = (items, index) => items[index % items.length];
const size = ({ shape }) => shape.reduce((product, length) => product * length, 1);
const full = (values, count) => values.constructor.from({ length: count }, (_, j) => at(values, j));
const array = (bits, dtype, count) => full(new ARRAYS[dtype](new Uint8Array(Buffer.from(bits, "hex")).buffer), count);

function number(text) {
  if (typeof text !== "string") return text;
  if (text === "inf" || text === "nan") return text === "inf" ? Infinity : NaN;
  const [, sign, whole, digits, exponent] = /^(-?)0x([01])\.?([0-9a-f]*)p([+-]\d+)$/.exec(text);
  const mantissa = Number(BigInt("0x" + whole + digits)) * 2 ** (-4 * digits.length);
  const half = Math.trunc(Number(exponent) / 2);  // in two factors: 2 ** -1074 is a number, and 2 ** 1074 none
  return (sign ? -1 : 1) * mantissa * 2 ** half * 2 ** (Number(exponent) - half);
}

// Returns all parameters after each step that is checked, or nothing where a gradient was changed.
function played(vector, dtype) {
  const hyper = Object.fromEntries(Object.entries(vector.hyper).map(([name, value]) => [name, number(value)]));
  const given = Array.from({ length: vector.tensors }, (_, i) => at(vector.parameters, i));
  const params = given.map((param) => array(param.bits, dtype, size(param)));
  const updates = params.map((p) => adam(hyper, p.length, dtype === "float32" ? Math.fround : (x) => x));
  const buffers = params.map((p) => new ARRAYS[dtype](p.length)), rows = [];
  for (let step = 0; step < vector.checked.at(-1); step++) {
    const grads = at(vector.grads, step), rate = number(at(vector.learning_rates, step));
    for (let i = 0; i < params.length; i++) {
      if (at(grads, i) === null) continue;
      const grad = array(at(grads, i), dtype, params[i].length);
      buffers[i].set(grad);  // where the one before was, too
      updates[i](params[i], buffers[i], rate);
      if (!grad.every((x, j) => Object.is(x, buffers[i][j]))) return null;
    }
    if (vector.checked.includes(step + 1)) rows.push(params.map((p) => p.slice()));
  }
  return rows;
}

const near = (vector, dtype, rows) => rows.every((params, row) => params.every((p, i) => {
  const value = array(at(vector.expected[row], i), dtype, p.length);
  const allowed = full(at(vector.allowed[row], i).split(" ").filter(Boolean).map(number), p.length);
  return p.every((x, j) => Number.isNaN(allowed[j]) ? !Number.isFinite(x)
    : allowed[j] === Infinity || Math.abs(x - value[j]) <= allowed[j]);
}));

const same = (rows, others) => rows.every((params, row) => params.every((p, i) =>
  p.every((x, j) => x === others[row][i][j] || Number.isNaN(x) && Number.isNaN(others[row][i][j]))));

if (process.argv.length < 3) {
  console.error("usage: node reader.js FILE [FILE ...]");  // no file, no verdict
  process.exit(1);
}
const rejected = new Set();
for (const name of process.argv.slice(2)) {
  const { dtype, vectors } = JSON.parse(require("fs").readFileSync(name, "utf8")), first = {};
  for (const vector of [...vectors, ...vectors.slice().reverse()]) {  // there and back: no run may know the one before
    const rows = played(vector, dtype);
    first[vector.id] ??= rows;
    if (rows && near(vector, dtype, rows) && same(rows, first[vector.id])) continue;
    if (!rejected.has(vector.id)) console.log("rejected:", vector.id, ...vector.flags);
    rejected.add(vector.id);
  }
}
console.log(rejected.size, "rejected");
process.exit(rejected.size ? 1 : 0);
