// dlib: a solver for each layer, which returns what is added to the layer's parameters.
#include <dlib/dnn/solvers.h>

#include <algorithm>
#include <memory>

#include "harness.hpp"

// A layer as solvers see one: its parameters.
struct Layer {
  dlib::resizable_tensor params;
  const dlib::tensor& get_layer_params() const { return params; }
};

dlib::resizable_tensor tensor(const Values& values) {
  dlib::resizable_tensor made(values.size());
  std::copy(values.begin(), values.end(), made.host());
  return made;
}

template <class Solver> Update training(const Solver& solver, Parameters& parameters) {
  auto layers = std::make_shared<std::vector<Layer>>();
  for (const Values& values : parameters) layers->push_back({tensor(values)});
  auto solvers = std::make_shared<std::vector<Solver>>(parameters.size(), solver);
  return [=, &parameters](const Gradients& grads, double learning_rate) {
    for (size_t i = 0; i < layers->size(); i++) {
      if (!grads[i]) continue;
      dlib::resizable_tensor& params = (*layers)[i].params;
      dlib::tt::add(params, params, (*solvers)[i](learning_rate, (*layers)[i], tensor(*grads[i])));
      parameters[i].assign(params.begin(), params.end());
    }
  };
}

Update sgd(const Json&, Parameters& parameters) { return training(dlib::sgd(0, 0), parameters); }

Update momentum(const Json& hyper, Parameters& parameters) {
  return training(dlib::sgd(0, hyper["momentum"].number()), parameters);
}

Update adam(const Json& hyper, Parameters& parameters) {
  return training(dlib::adam(0, hyper["beta1"].number(), hyper["beta2"].number()), parameters);
}

Update decayed_sgd(const Json& hyper, Parameters& parameters) {
  return training(dlib::sgd(hyper["weight_decay"].number(), hyper["momentum"].number()), parameters);
}

Update decayed_adam(const Json& hyper, Parameters& parameters) {
  return training(
      dlib::adam(hyper["weight_decay"].number(), hyper["beta1"].number(), hyper["beta2"].number()), parameters);
}

int main() {
  return serve({
      "dlib",
      "19.24",
      R"("cannot":["empty parameters"],"pinned":{
        "momentum":{"use_nesterov":false},
        "adam":{"epsilon":1e-8},
        "papers.adam":{"epsilon":1e-8},
        "torch.sgd":{"dampening":0,"nesterov":false,"maximize":false},
        "torch.adam":{"eps":1e-8,"amsgrad":false,"decoupled_weight_decay":false,"maximize":false}},)",
      {
          {"sgd", sgd},
          {"momentum", momentum},
          {"adam", adam},
          {"papers.adam", adam},
          {"torch.sgd", decayed_sgd},
          {"torch.adam", decayed_adam},
      },
  });
}
