// FANN: a network for each parameter, with one input of 1 and a neuron for each element, whose weights it has. Slopes and
// errors are negated gradients.
#include <floatfann.h>
#include <fann_internal.h>

#include <cstdlib>
#include <memory>

#include "harness.hpp"

struct Network {
  fann* net;
  explicit Network(const Values& values) : net(fann_create_standard(2, 1, unsigned(values.size()))) {
    for (size_t i = 0; i < values.size(); i++) net->weights[weight(i)] = values[i];
    net->first_layer->first_neuron->value = 1;
    net->train_errors = static_cast<fann_type*>(std::calloc(net->total_neurons, sizeof(fann_type)));
  }
  Network(const Network&) = delete;
  ~Network() { fann_destroy(net); }

  // The place of an element's weight; behind it stands that of the bias.
  static size_t weight(size_t i) { return 2 * i; }
};

// What makes one update of a network: given negated gradients, and the learning rate.
using Step = std::function<void(Network&, const Values&, float)>;

Update training(std::function<void(fann*)> prepare, Step step, Parameters& parameters) {
  auto networks = std::make_shared<std::vector<std::unique_ptr<Network>>>();
  for (const Values& values : parameters) {
    networks->push_back(std::make_unique<Network>(values));
    prepare(networks->back()->net);
  }
  auto begun = std::make_shared<std::vector<bool>>(parameters.size());
  return [=, &parameters](const Gradients& grads, double learning_rate) {
    for (size_t i = 0; i < networks->size(); i++) {
      if (!grads[i]) continue;
      Network& network = *(*networks)[i];
      network.net->learning_rate = learning_rate;
      if (!(*begun)[i]) {
        network.net->rprop_delta_zero = learning_rate;
        fann_clear_train_arrays(network.net);
        (*begun)[i] = true;
      }
      Values negated = *grads[i];
      for (float& value : negated) value = -value;
      step(network, negated, learning_rate);
      for (size_t k = 0; k < negated.size(); k++) parameters[i][k] = network.net->weights[Network::weight(k)];
    }
  };
}

void slopes(Network& network, const Values& negated) {
  for (size_t i = 0; i < negated.size(); i++) network.net->train_slopes[Network::weight(i)] = negated[i];
}

// In batches, of one sample here.
Update sgd(const Json&, Parameters& parameters) {
  const Step step = [](Network& network, const Values& negated, float) {
    slopes(network, negated);
    fann_update_weights_batch(network.net, 1, 0, network.net->total_connections);
  };
  return training([](fann* net) { fann_set_training_algorithm(net, FANN_TRAIN_BATCH); }, step, parameters);
}

// Sample by sample.
Update momentum(const Json& hyper, Parameters& parameters) {
  const float share = hyper["momentum"].number();
  const Step step = [](Network& network, const Values& negated, float) {
    const size_t first = network.net->num_input + 1;  // neurons behind the input and its bias
    for (size_t i = 0; i < negated.size(); i++) network.net->train_errors[first + i] = negated[i];
    fann_update_weights(network.net);
  };
  return training([=](fann* net) { fann_set_learning_momentum(net, share); }, step, parameters);
}

Update rprop(const Json& hyper, Parameters& parameters) {
  const float shrink = hyper["etaminus"].number(), grow = hyper["etaplus"].number();
  const float least = hyper["step_size_min"].number(), most = hyper["step_size_max"].number();
  const auto prepare = [=](fann* net) {
    fann_set_training_algorithm(net, FANN_TRAIN_RPROP);
    fann_set_rprop_decrease_factor(net, shrink);
    fann_set_rprop_increase_factor(net, grow);
    fann_set_rprop_delta_min(net, least);
    fann_set_rprop_delta_max(net, most);
  };
  const Step step = [](Network& network, const Values& negated, float) {
    slopes(network, negated);
    fann_update_weights_irpropm(network.net, 0, network.net->total_connections);
  };
  return training(prepare, step, parameters);
}

int main() {
  return serve({
      "FANN",
      "2.2.0",
      R"("cannot":["empty parameters"],"pinned":{
        "momentum":{"use_nesterov":false},
        "torch.rprop":{"maximize":false}},)",
      {
          {"sgd", sgd},
          {"momentum", momentum},
          {"torch.rprop", rprop},
      },
  });
}
