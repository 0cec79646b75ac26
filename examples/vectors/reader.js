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

// The reader: bits are little-endian elements, and other numbers hex floats.
const ARRAYS = { float32: Float32Array, float64: Float64Array };
const array = (bits, dtype) => new ARRAYS[dtype](new Uint8Array(Buffer.from(bits, "hex")).buffer);

function number(text) {
  if (typeof text !== "string") return text;
  if (text === "inf") return Infinity;
  const [, sign, whole, digits, exponent] = /^(-?)0x([01])\.?([0-9a-f]*)p([+-]\d+)$/.exec(text);
  const mantissa = Number(BigInt("0x" + whole + digits)) * 2 ** (-4 * digits.length);
  const half = Math.trunc(Number(exponent) / 2);  // in two factors: 2 ** -1074 is a number, and 2 ** 1074 none
  return (sign ? -1 : 1) * mantissa * 2 ** half * 2 ** (Number(exponent) - half);
}

function accepted(vector, dtype) {
  const hyper = Object.fromEntries(Object.entries(vector.hyper).map(([name, value]) => [name, number(value)]));
  const params = vector.parameters.map((param) => array(param.bits, dtype));
  const updates = params.map((p) => adam(hyper, p.length, dtype === "float32" ? Math.fround : (x) => x));
  return vector.grads.every((grads, step) => {
    grads.forEach((g, i) => g && updates[i](params[i], array(g.bits, dtype), number(vector.learning_rates[step])));
    return params.every((p, i) => {
      const value = array(vector.expected[step][i], dtype);
      const allowed = vector.allowed[step][i].split(" ").filter(Boolean).map(number);
      return p.every((x, j) => allowed[j] === Infinity || Math.abs(x - value[j]) <= allowed[j]);
    });
  });
}

let rejected = 0;
for (const name of process.argv.slice(2)) {
  const { dtype, vectors } = JSON.parse(require("fs").readFileSync(name, "utf8"));
  for (const vector of vectors) {
    if (accepted(vector, dtype) && accepted(vector, dtype)) continue;  // no run knows the one before
    rejected++;
    console.log("rejected:", vector.id, ...vector.flags);
  }
}
console.log(rejected, "rejected");
process.exit(rejected ? 1 : 0);
