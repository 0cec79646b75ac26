// Judges an optimizer by test vectors, without optimetry; bits are little-endian, and so must the machine be.
//   g++ -O2 -std=c++17 -I conformance/harness -o reader examples/vectors/reader.cpp
//   ./reader vectors/fluid/adam-*.json
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>

#include "wire.hpp"  // for JSON

// The implementation: updates one parameter in place.
template <class T> struct Adam {
  T beta1, beta2, epsilon;
  std::vector<T> m, v;
  T b1 = 1, b2 = 1;
  void step(std::vector<T>& p, const std::vector<T>& g, T lr) {
    m.resize(p.size()), v.resize(p.size());
    b1 *= beta1, b2 *= beta2;
    const T rate = lr * std::sqrt(1 - b2) / (1 - b1);
    for (size_t i = 0; i < p.size(); i++) {
      m[i] = beta1 * m[i] + (1 - beta1) * g[i];
      v[i] = beta2 * v[i] + (1 - beta2) * g[i] * g[i];
      p[i] -= rate * m[i] / (std::sqrt(v[i]) + epsilon);
    }
  }
};

// The reader: elements are bits, other numbers hex floats, which strtod knows.
template <class T> std::vector<T> array(const std::string& bits) {
  std::string bytes;
  for (size_t i = 0; i < bits.size(); i += 2) bytes.push_back(char(std::stoi(bits.substr(i, 2), nullptr, 16)));
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

template <class T> bool accepted(const Json& vector) {
  std::vector<std::vector<T>> params;
  for (const Json& param : vector["parameters"].items) params.push_back(array<T>(param["bits"].text));
  const Json& hyper = vector["hyper"];
  const Adam<T> fresh{T(hyper["beta1"].number()), T(hyper["beta2"].number()), T(hyper["epsilon"].number())};
  std::vector<Adam<T>> optimizers(params.size(), fresh);
  for (size_t step = 0; step < vector["grads"].items.size(); step++) {
    for (size_t i = 0; i < params.size(); i++) {
      const Json& grad = vector["grads"].items[step].items[i];
      const T rate = T(vector["learning_rates"].items[step].number());
      if (!grad.null) optimizers[i].step(params[i], array<T>(grad["bits"].text), rate);
      const auto value = array<T>(vector["expected"].items[step].items[i].text);
      std::istringstream allowed(vector["allowed"].items[step].items[i].text);
      for (size_t j = 0; j < value.size(); j++) {
        std::string text;
        allowed >> text;
        const double limit = std::strtod(text.c_str(), nullptr);
        if (!std::isinf(limit) && !(std::fabs(double(params[i][j]) - double(value[j])) <= limit)) return false;
      }
    }
  }
  return true;
}

int main(int count, char** names) {
  int rejected = 0;
  for (int file = 1; file < count; file++) {
    std::ifstream stream(names[file]);
    std::string text{std::istreambuf_iterator<char>(stream), {}};
    text.erase(std::remove(text.begin(), text.end(), '\n'), text.end());
    const char* at = text.c_str();
    const Json set = read(at);
    const auto judge = set["dtype"].text == "float32" ? accepted<float> : accepted<double>;
    for (const Json& vector : set["vectors"].items) {
      if (judge(vector) && judge(vector)) continue;  // no run knows the one before
      rejected++;
      std::printf("rejected: %s", vector["id"].text.c_str());
      for (const Json& flag : vector["flags"].items) std::printf(" %s", flag.text.c_str());
      std::printf("\n");
    }
  }
  std::printf("%d rejected\n", rejected);
  return rejected > 0;
}
