// The optimizers of torch's C++ frontend; frontend.py beside this file compiles it: optimetry check torchcpp
#include <torch/optim.h>
#include <torch/serialize.h>
#include <torch/version.h>

#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>

#include "wire.hpp"

using namespace torch::optim;
using Made = std::unique_ptr<Optimizer>;
using Tensors = std::vector<torch::Tensor>;
using Groups = std::vector<OptimizerParamGroup>;

// The documented hyperparameters of a run, by name.
struct Hyper {
  const Json& given;
  double operator[](const char* name) const { return given[name].number(); }
  bool flag(const char* name) const { return given[name].text == "true"; }
  std::tuple<double, double> betas() const { return {(*this)["beta1"], (*this)["beta2"]}; }
};

// A class with options. It has two constructors, which are the engines: of tensors, and of groups with options.
struct Offer {
  std::function<Made(const Tensors&)> of_tensors;
  std::function<Made(const Groups&)> of_groups;
  std::shared_ptr<OptimizerOptions> options;
};

template <class Class, class Options> Offer offer(const Options& options) {
  return {[options](const Tensors& tensors) { return std::make_unique<Class>(tensors, options); },
          [options](const Groups& groups) { return std::make_unique<Class>(groups, options); },
          std::make_shared<Options>(options)};
}

struct Rule {
  std::function<Offer(const Hyper&)> offer;
  std::string pinned;  // what has no option, as JSON
};

const std::string MAXIMIZE = R"("maximize":false)";

// Which class stands for each rule, and what its options are given. The learning rate is set before every step.
const std::map<std::string, Rule> RULES = {
    {"sgd", {[](auto&) { return offer<SGD>(SGDOptions(1)); }}},
    {"momentum",
     {[](auto& h) {
       return offer<SGD>(SGDOptions(1).momentum(h["momentum"]).nesterov(h.flag("use_nesterov")));
     }}},
    {"adagrad",
     {[](auto& h) {
       const double first = h["initial_accumulator_value"];
       return offer<Adagrad>(AdagradOptions(1).eps(h["epsilon"]).initial_accumulator_value(first));
     }}},
    // RMSprop without momentum is the decayed Adagrad of the documents: epsilon outside the root.
    {"decayed_adagrad",
     {[](auto& h) { return offer<RMSprop>(RMSpropOptions(1).alpha(h["decay"]).eps(h["epsilon"])); }}},
    {"adam", {[](auto& h) { return offer<Adam>(AdamOptions(1).betas(h.betas()).eps(h["epsilon"])); }}},
    {"rmsprop",
     {[](auto& h) {
       const auto options = RMSpropOptions(1).alpha(h["rho"]).eps(h["epsilon"]).momentum(h["momentum"]);
       return offer<RMSprop>(RMSpropOptions(options).centered(h.flag("centered")));
     }}},
    {"torch.sgd",
     {[](auto& h) {
        const auto options = SGDOptions(1).momentum(h["momentum"]).dampening(h["dampening"]);
        return offer<SGD>(SGDOptions(options).weight_decay(h["weight_decay"]).nesterov(h.flag("nesterov")));
      },
      MAXIMIZE}},
    {"torch.adagrad",
     {[](auto& h) {
        const auto options = AdagradOptions(1).lr_decay(h["lr_decay"]).weight_decay(h["weight_decay"]).eps(h["eps"]);
        const double first = h["initial_accumulator_value"];
        return offer<Adagrad>(AdagradOptions(options).initial_accumulator_value(first));
      },
      MAXIMIZE}},
    {"torch.adam",
     {[](auto& h) {
        const auto options = AdamOptions(1).betas(h.betas()).eps(h["eps"]).weight_decay(h["weight_decay"]);
        return offer<Adam>(AdamOptions(options).amsgrad(h.flag("amsgrad")));
      },
      R"("decoupled_weight_decay":false,)" + MAXIMIZE}},
    {"torch.adamw",
     {[](auto& h) {
        const auto options = AdamWOptions(1).betas(h.betas()).eps(h["eps"]).weight_decay(h["weight_decay"]);
        return offer<AdamW>(AdamWOptions(options).amsgrad(h.flag("amsgrad")));
      },
      MAXIMIZE}},
    {"torch.rmsprop",
     {[](auto& h) {
        const auto options = RMSpropOptions(1).alpha(h["alpha"]).eps(h["eps"]).weight_decay(h["weight_decay"]);
        return offer<RMSprop>(RMSpropOptions(options).momentum(h["momentum"]).centered(h.flag("centered")));
      },
      MAXIMIZE}},
    {"papers.adagrad", {[](auto& h) { return offer<Adagrad>(AdagradOptions(1).eps(h["delta"])); }}},
    {"papers.adam",
     {[](auto& h) { return offer<Adam>(AdamOptions(1).betas(h.betas()).eps(h["epsilon"])); }}},
    // The publication has no epsilon: torch's default is kept.
    {"papers.amsgrad",
     {[](auto& h) { return offer<Adam>(AdamOptions(1).betas(h.betas()).amsgrad(true)); }}},
    {"papers.adamw",
     {[](auto& h) {
       const auto options = AdamWOptions(1).betas(h.betas()).eps(h["epsilon"]);
       return offer<AdamW>(AdamWOptions(options).weight_decay(h["weight_decay"]));
     }}},
};

template <class T> torch::Tensor tensor(const Json& array) {
  std::vector<int64_t> shape;
  for (const Json& length : array["shape"].items) shape.push_back(std::stoll(length.text));
  auto values = decode<T>(array);
  return torch::from_blob(values.data(), shape, torch::CppTypeToScalarType<T>::value).clone();
}

// Why torch refuses hyperparameters; nothing where it does not.
std::string refusal(const std::string& rule, const Hyper& hyper) {
  const bool nesterov = rule == "momentum" ? hyper.flag("use_nesterov") : rule == "torch.sgd" && hyper.flag("nesterov");
  const bool dampened = rule == "torch.sgd" && hyper["dampening"] != 0;
  return nesterov && (hyper["momentum"] == 0 || dampened) ? "no Nesterov step without momentum or with dampening" : "";
}

// One optimizer, and the tensors that it updates.
struct Training {
  virtual ~Training() = default;
  virtual Tensors added(const Json& parameters) = 0;
  virtual std::string step(const Json& step, const std::vector<double>& rates) = 0;
  std::string rule;
  Made optimizer;

  Offer offer(const Json& given) const { return RULES.at(rule).offer(Hyper{given["hyper"]}); }

  OptimizerParamGroup group(const Json& given) {
    return {added(given["parameters"]), offer(given).options->clone()};
  }

  void begin(const Json& given) { optimizer = offer(given).of_tensors(added(given["parameters"])); }

  // The options of the first group are those that the others have as defaults.
  void begin_groups(const std::vector<Json>& given) {
    Groups groups;
    for (const Json& each : given) groups.push_back(group(each));
    optimizer = offer(given[0]).of_groups(groups);
  }

  // What torch::save writes, as the bytes of its file.
  std::string state() const {
    std::ostringstream file;
    torch::save(*optimizer, file);
    const std::string bytes = file.str();
    const auto length = std::to_string(bytes.size());
    return "{\"file\":[" + encode(std::vector<char>(bytes.begin(), bytes.end()), "uint8", length) + "]}";
  }

  void load(const Json& state) {
    const auto bytes = decode<char>(state["file"].items[0]);
    std::istringstream file(std::string(bytes.begin(), bytes.end()));
    torch::load(*optimizer, file);
  }
};

template <class T> struct TrainingOf : Training {
  Tensors tensors;
  std::vector<Json> parameters;

  Tensors added(const Json& given) override {
    Tensors made;
    for (const Json& parameter : given.items) {
      parameters.push_back(parameter);
      made.push_back(tensor<T>(parameter).requires_grad_());
    }
    tensors.insert(tensors.end(), made.begin(), made.end());
    return made;
  }

  std::string step(const Json& step, const std::vector<double>& rates) override {
    for (size_t i = 0; i < tensors.size(); i++) {
      const Json& grad = step["grads"].items[i];
      tensors[i].mutable_grad() = grad.null ? torch::Tensor() : tensor<T>(grad);
    }
    for (size_t i = 0; i < rates.size(); i++) optimizer->param_groups()[i].options().set_lr(rates[i]);
    optimizer->step();
    std::string row;
    for (size_t i = 0; i < tensors.size(); i++) {
      const auto values = tensors[i].detach().contiguous();
      const T* data = values.template const_data_ptr<T>();
      row += (row.empty() ? "" : ",") + encode(std::vector<T>(data, data + values.numel()), parameters[i]);
    }
    return "[" + row + "]";
  }
};

std::unique_ptr<Training> begun(const Json& request) {
  std::unique_ptr<Training> training;
  if (request["dtype"].text == "float32") training = std::make_unique<TrainingOf<float>>();
  else training = std::make_unique<TrainingOf<double>>();
  training->rule = request["optimizer"].text;
  if (request["do"].text == "start_groups") training->begin_groups(request["groups"].items);
  else if (request["engine"].text == "groups") training->begin_groups({request});
  else training->begin(request);
  return training;
}

std::string whole(const Json& request) {
  const auto training = begun(request);
  std::string after;
  for (const Json& step : request["steps"].items)
    after += (after.empty() ? "" : ",") + training->step(step, {step["learning_rate"].number()});
  return "{\"after\":[" + after + "]}";
}

std::string hello() {
  std::string optimizers, pinned;
  for (const auto& [name, rule] : RULES) {
    const std::string key = "\"" + name + "\":";
    optimizers += (optimizers.empty() ? "" : ",") + key + "[\"float32\",\"float64\"]";
    if (!rule.pinned.empty()) pinned += (pinned.empty() ? "" : ",") + key + "{" + rule.pinned + "}";
  }
  return std::string("{\"name\":\"torchcpp\",\"version\":\"") + TORCH_VERSION +
         "\",\"language\":\"C++20\",\"protocol\":1,\"stateful\":true," +
         R"("engines":["tensors","groups"],"limits":{"groups":{"offers":["groups"]}},)" + "\"optimizers\":{" +
         optimizers + "},\"pinned\":{" + pinned + "}}";
}

// Errors are quoted without what JSON would have to escape.
std::string said(const std::exception& error) {
  std::string text = error.what();
  text = text.substr(0, text.find('\n'));
  for (char& letter : text)
    if (letter == '"' || letter == '\\' || letter < ' ') letter = '\'';
  return "{\"error\":\"" + text + "\"}";
}

std::map<std::string, std::unique_ptr<Training>> started;  // by the numbers of their runs

std::string answered(const Json& request) {
  const std::string& what = request["do"].text;
  if (what == "hello") return hello();
  if (what == "run" || what == "start")
    if (const auto reason = refusal(request["optimizer"].text, Hyper{request["hyper"]}); !reason.empty())
      return "{\"unsupported\":\"" + reason + "\"}";
  if (what == "run") return whole(request);
  const std::string& number = request["run"].text;
  const std::string run = "\"run\":" + number;
  if (what == "start" || what == "start_groups") started[number] = begun(request);
  if (what == "start") return "{" + run + ",\"resumable\":true}";
  Training& training = *started.at(number);
  if (what == "add_group") training.optimizer->add_param_group(training.group(request));
  std::vector<double> rates;
  if (what == "step") rates = {request["learning_rate"].number()};
  if (what == "step_groups")
    for (const Json& rate : request["learning_rates"].items) rates.push_back(rate.number());
  if (!rates.empty()) return "{" + run + ",\"after\":" + training.step(request, rates) + "}";
  if (what == "state") return "{" + run + ",\"state\":" + training.state() + "}";
  if (what == "load") training.load(request["state"]);
  if (what == "end") started.erase(number);
  return "{" + run + "}";
}

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const char* at = line.c_str();
    const Json request = read(at);
    if (request["do"].text == "bye") break;
    try {
      std::cout << answered(request);
    } catch (const std::exception& error) {
      std::cout << said(error);
    }
    std::cout << std::endl;
  }
}
