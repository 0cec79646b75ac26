// torch's C++ frontend, compiled against the headers and libraries inside torch's wheel:
//   torch=$(python -c "import torch; print(torch.__path__[0])")
//   g++ -O1 -std=c++20 -I$torch/include -I$torch/include/torch/csrc/api/include -o torch_frontend \
//       examples/programs/torch_frontend.cpp -L$torch/lib -Wl,-rpath,$torch/lib -ltorch -ltorch_cpu -lc10
//   optimetry check -- ./torch_frontend
#include <torch/optim.h>
#include <torch/version.h>

#include <iostream>
#include <memory>

#include "wire.hpp"

using Made = std::unique_ptr<torch::optim::Optimizer>;
using Tensors = std::vector<torch::Tensor>;

// What torch's options are called, and which documented hyperparameter each is; what has no option is pinned below.
Made made(const std::string& name, const Json& hyper, const Tensors& tensors) {
  const auto value = [&](const char* key) { return hyper[key].number(); };
  const auto flag = [&](const char* key) { return hyper[key].text == "true"; };
  using namespace torch::optim;
  if (name == "sgd") return std::make_unique<SGD>(tensors, SGDOptions(1));
  if (name == "momentum")
    return std::make_unique<SGD>(tensors, SGDOptions(1).momentum(value("momentum")).nesterov(flag("use_nesterov")));
  if (name == "adagrad")
    return std::make_unique<Adagrad>(
        tensors,
        AdagradOptions(1).eps(value("epsilon")).initial_accumulator_value(value("initial_accumulator_value")));
  if (name == "adam")
    return std::make_unique<Adam>(
        tensors, AdamOptions(1).betas({value("beta1"), value("beta2")}).eps(value("epsilon")));
  return std::make_unique<RMSprop>(
      tensors,
      RMSpropOptions(1).alpha(value("rho")).eps(value("epsilon")).momentum(value("momentum")).centered(
          flag("centered")));
}

template <class T> torch::Tensor tensor(const Json& array) {
  std::vector<int64_t> shape;
  for (const Json& length : array["shape"].items) shape.push_back(std::stoll(length.text));
  auto values = decode<T>(array);
  return torch::from_blob(values.data(), shape, torch::CppTypeToScalarType<T>::value).clone();
}

template <class T> std::string run(const Json& request) {
  const Json& parameters = request["parameters"];
  Tensors tensors;
  for (const Json& parameter : parameters.items) tensors.push_back(tensor<T>(parameter).requires_grad_());
  if (request["optimizer"].text == "momentum" && request["hyper"]["use_nesterov"].text == "true" &&
      request["hyper"]["momentum"].number() == 0)
    return "{\"unsupported\":\"torch::optim::SGD refuses nesterov without momentum\"}";
  const Made optimizer = made(request["optimizer"].text, request["hyper"], tensors);
  std::string after;
  for (const Json& step : request["steps"].items) {
    for (size_t i = 0; i < tensors.size(); i++) {
      const Json& grad = step["grads"].items[i];
      tensors[i].mutable_grad() = grad.null ? torch::Tensor() : tensor<T>(grad);
    }
    optimizer->param_groups()[0].options().set_lr(step["learning_rate"].number());
    optimizer->step();
    std::string row;
    for (size_t i = 0; i < tensors.size(); i++) {
      const auto values = tensors[i].detach().contiguous();
      const T* data = values.template const_data_ptr<T>();
      row += (row.empty() ? "" : ",") + encode(std::vector<T>(data, data + values.numel()), parameters.items[i]);
    }
    after += (after.empty() ? "[" : ",[") + row + "]";
  }
  return "{\"after\":[" + after + "]}";
}

std::string hello() {
  std::string optimizers;
  for (const char* name : {"sgd", "momentum", "adagrad", "adam", "rmsprop"})
    optimizers += std::string(optimizers.empty() ? "" : ",") + "\"" + name + "\":[\"float32\",\"float64\"]";
  return std::string("{\"name\":\"torch C++ frontend\",\"version\":\"") + TORCH_VERSION +
         "\",\"language\":\"C++20\",\"protocol\":1,\"optimizers\":{" + optimizers + "}}";
}

// Errors are quoted without what JSON would have to escape.
std::string said(const std::exception& error) {
  std::string text = error.what();
  text = text.substr(0, text.find('\n'));
  for (char& letter : text)
    if (letter == '"' || letter == '\\' || letter < ' ') letter = '\'';
  return "{\"error\":\"" + text + "\"}";
}

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const char* at = line.c_str();
    const Json request = read(at);
    if (request["do"].text == "bye") break;
    try {
      if (request["do"].text == "hello") std::cout << hello();
      else std::cout << (request["dtype"].text == "float32" ? run<float>(request) : run<double>(request));
    } catch (const std::exception& error) {
      std::cout << said(error);
    }
    std::cout << std::endl;
  }
}
