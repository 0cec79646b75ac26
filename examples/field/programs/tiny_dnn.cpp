// tiny-dnn: one optimizer for all parameters of a network, each of which it is given in turn.
#include <tiny_dnn/optimizers/optimizer.h>

#include <memory>

#include "harness.hpp"

using namespace tiny_dnn;

template <class Optimizer> Update training(std::shared_ptr<Optimizer> optimizer, Parameters& parameters) {
  auto held = std::make_shared<std::vector<vec_t>>();
  for (const Values& values : parameters) held->emplace_back(values.begin(), values.end());
  optimizer->reset();
  return [=, &parameters](const Gradients& grads, double learning_rate) {
    optimizer->alpha = learning_rate;
    for (size_t i = 0; i < held->size(); i++) {
      if (!grads[i]) continue;
      vec_t& weights = (*held)[i];
      optimizer->update(vec_t(grads[i]->begin(), grads[i]->end()), weights, false);
      parameters[i].assign(weights.begin(), weights.end());
    }
  };
}

Update begin_sgd(const Json&, Parameters& parameters) {
  return training(std::make_shared<gradient_descent>(), parameters);
}

Update begin_momentum(const Json& hyper, Parameters& parameters) {
  auto optimizer = std::make_shared<momentum>();
  optimizer->mu = hyper["momentum"].number();
  return training(optimizer, parameters);
}

Update begin_adagrad(const Json&, Parameters& parameters) { return training(std::make_shared<adagrad>(), parameters); }

Update begin_rmsprop(const Json& hyper, Parameters& parameters) {
  auto optimizer = std::make_shared<RMSprop>();
  optimizer->mu = hyper["decay"].number();
  return training(optimizer, parameters);
}

Update begin_adam(const Json& hyper, Parameters& parameters) {
  auto optimizer = std::make_shared<adam>();
  optimizer->b1 = optimizer->b1_t = hyper["beta1"].number();
  optimizer->b2 = optimizer->b2_t = hyper["beta2"].number();
  return training(optimizer, parameters);
}

// Gradient descent with an L2 penalty, with momentum or without.
Update begin_decayed(const Json& hyper, Parameters& parameters) {
  const double decay = hyper["weight_decay"].number();
  if (hyper["momentum"].number() == 0) {
    auto optimizer = std::make_shared<gradient_descent>();
    optimizer->lambda = decay;
    return training(optimizer, parameters);
  }
  auto optimizer = std::make_shared<momentum>();
  optimizer->mu = hyper["momentum"].number();
  optimizer->lambda = decay;
  return training(optimizer, parameters);
}

int main() {
  return serve({
      "tiny-dnn",
      "1.0.0a3",
      R"("pinned":{
        "momentum":{"use_nesterov":false},
        "adagrad":{"epsilon":1e-8,"initial_accumulator_value":0},
        "decayed_adagrad":{"epsilon":1e-8},
        "adam":{"epsilon":1e-8},
        "papers.adam":{"epsilon":1e-8},
        "torch.sgd":{"dampening":0,"nesterov":false,"maximize":false}},)",
      {
          {"sgd", begin_sgd},
          {"momentum", begin_momentum},
          {"adagrad", begin_adagrad},
          {"decayed_adagrad", begin_rmsprop},
          {"adam", begin_adam},
          {"papers.adam", begin_adam},
          {"torch.sgd", begin_decayed},
      },
  });
}
