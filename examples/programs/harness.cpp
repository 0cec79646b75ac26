// A library in C++, and the harness that lets optimetry judge it:
// g++ -O2 -std=c++17 -I conformance/harness -o harness harness.cpp && optimetry check -- ./harness
#include <cmath>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "wire.hpp"

// The library: an optimizer updates one parameter in place, and is made for one parameter.

template <class T> struct Optimizer {
  virtual ~Optimizer() = default;
  virtual void update(std::vector<T>& p, const std::vector<T>& g, T rate) = 0;
};

template <class T> struct Sgd : Optimizer<T> {
  void update(std::vector<T>& p, const std::vector<T>& g, T rate) override {
    for (size_t i = 0; i < p.size(); i++) p[i] -= rate * g[i];
  }
};

template <class T> struct Adagrad : Optimizer<T> {
  T epsilon;
  std::vector<T> moment;
  Adagrad(size_t size, T epsilon, T initial) : epsilon(epsilon), moment(size, initial) {}
  void update(std::vector<T>& p, const std::vector<T>& g, T rate) override {
    for (size_t i = 0; i < p.size(); i++) {
      moment[i] += g[i] * g[i];
      p[i] -= rate * g[i] / (std::sqrt(moment[i]) + epsilon);
    }
  }
};

// The harness: one line of JSON a request, one line of JSON an answer.

template <class T> std::string run(const Json& request) {
  const Json &hyper = request["hyper"], &parameters = request["parameters"];
  std::vector<std::vector<T>> values;
  std::vector<std::unique_ptr<Optimizer<T>>> optimizers;
  for (const Json& parameter : parameters.items) {
    values.push_back(decode<T>(parameter));
    if (request["optimizer"].text == "sgd") optimizers.push_back(std::make_unique<Sgd<T>>());
    else
      optimizers.push_back(std::make_unique<Adagrad<T>>(
          values.back().size(), hyper["epsilon"].number(), hyper["initial_accumulator_value"].number()));
  }
  std::string after;
  for (const Json& step : request["steps"].items) {
    std::string row;
    for (size_t i = 0; i < values.size(); i++) {
      const Json& grad = step["grads"].items[i];
      if (!grad.null) optimizers[i]->update(values[i], decode<T>(grad), T(step["learning_rate"].number()));
      row += (row.empty() ? "" : ",") + encode(values[i], parameters.items[i]);
    }
    after += (after.empty() ? "[" : ",[") + row + "]";
  }
  return "{\"after\":[" + after + "]}";
}

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const char* at = line.c_str();
    const Json request = read(at);
    const std::string asked = request["do"].text;
    if (asked == "bye") break;
    if (asked == "hello")
      std::cout << "{\"name\":\"example.cpp\",\"version\":\"1.0\",\"language\":\"C++17\",\"protocol\":1,\"optimizers\":"
                   "{\"sgd\":[\"float32\",\"float64\"],\"adagrad\":[\"float32\",\"float64\"]}}";
    else
      std::cout << (request["dtype"].text == "float32" ? run<float>(request) : run<double>(request));
    std::cout << std::endl;  // ends the line, and sends it
  }
}
