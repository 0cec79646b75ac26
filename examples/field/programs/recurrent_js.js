// recurrent-js: what its networks call, the update of a matrix; and its solver, which no network uses and the package does
// not export, in float64. The solver's RMSProp comes nearest to the decayed Adagrad.
const { library, serve } = require("./harness");

const { Mat } = library("recurrent-js");
const { Solver } = library("recurrent-js/dist/solver");

const training = (made) => (hyper, parameters) => {
  const model = { ...parameters.map(({ values }) => new Mat(values.length, 1)) };
  parameters.forEach(({ values }, i) => model[i].setFrom(values));
  const update = made(hyper, model);
  return (grads, learningRate) => {
    grads.forEach(({ values }, i) => model[i].dw.set(values));
    update(learningRate);
    parameters.forEach(({ values }, i) => values.set(model[i].w));
  };
};

const rules = {
  sgd: training((hyper, model) => (rate) => Object.values(model).forEach((matrix) => matrix.update(rate))),
  decayed_adagrad: training(({ decay, epsilon }, model) => {
    const solver = new Solver(decay, epsilon);
    return (rate) => solver.step(model, rate, 0, Infinity);
  }),
};

serve({ name: "recurrent-js", dtypes: ["float64"], rules, cannot: ["missing gradients"] });
