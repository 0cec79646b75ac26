// What the harnesses in C++ of this folder have in common: runs in float32, and the loop over lines. JSON and arrays are
// those of wire.hpp, which comes with optimetry.
#pragma once
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "wire.hpp"

using Values = std::vector<float>;
using Parameters = std::vector<Values>;
using Gradients = std::vector<std::optional<Values>>;  // none where one is missing

// One update of the parameters, given gradients and a learning rate; and what begins a run with hyperparameters.
using Update = std::function<void(const Gradients&, double)>;
using Begin = std::function<Update(const Json&, Parameters&)>;

struct Library {
  std::string name, version;
  std::string limits;  // members of `hello`, as JSON in any number of lines, with a comma behind each
  std::map<std::string, Begin> rules;
};

inline std::string hello(const Library& library) {
  std::string offered;
  for (const auto& [rule, begin] : library.rules)
    offered += (offered.empty() ? "\"" : ",\"") + rule + "\":[\"float32\"]";
  std::string limits = library.limits;
  std::replace(limits.begin(), limits.end(), '\n', ' ');  // an answer is one line
  return "{\"name\":\"" + library.name + "\",\"version\":\"" + library.version + "\",\"language\":\"C++17\"," + limits +
         "\"protocol\":1,\"optimizers\":{" + offered + "}}";
}

inline std::string run(const Library& library, const Json& request) {
  const std::vector<Json>& given = request["parameters"].items;
  Parameters parameters;
  for (const Json& parameter : given) parameters.push_back(decode<float>(parameter));
  const Update update = library.rules.at(request["optimizer"].text)(request["hyper"], parameters);
  std::string after;
  for (const Json& step : request["steps"].items) {
    Gradients grads;
    for (const Json& grad : step["grads"].items)
      grads.push_back(grad.null ? std::nullopt : std::make_optional(decode<float>(grad)));
    update(grads, step["learning_rate"].number());
    std::string row;
    for (size_t i = 0; i < given.size(); i++) row += (row.empty() ? "" : ",") + encode(parameters[i], given[i]);
    after += (after.empty() ? "[" : ",[") + row + "]";
  }
  return "{\"after\":[" + after + "]}";
}

inline int serve(const Library& library) {
  for (std::string line; std::getline(std::cin, line);) {
    const char* at = line.c_str();
    const Json request = read(at);
    if (request["do"].text == "bye") break;
    std::cout << (request["do"].text == "hello" ? hello(library) : run(library, request)) << std::endl;
  }
  return 0;
}
