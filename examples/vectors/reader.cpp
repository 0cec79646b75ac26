// Judges an optimizer by test vectors, without optimetry; bits are little-endian, and so must the machine be.
//   g++ -O2 -std=c++17 -I conformance/harness -o reader examples/vectors/reader.cpp
//   ./reader vectors/fluid/adam-*.json
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <set>
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

// The reader: bits are elements, other numbers hex floats, which strtod knows, and what is too short begins again.
template <class Items> const auto& at(const Items& items, size_t index) { return items[index % items.size()]; }

template <class T> std::vector<T> array(const std::string& bits, size_t count) {
  std::string bytes;
  for (size_t i = 0; i < bits.size(); i += 2) bytes.push_back(char(std::stoi(bits.substr(i, 2), nullptr, 16)));
  std::vector<T> pattern(bytes.size() / sizeof(T)), values;
  if (!pattern.empty()) std::memcpy(pattern.data(), bytes.data(), bytes.size());
  while (values.size() < count) values.push_back(at(pattern, values.size()));
  return values;
}

template <class T> using Rows = std::vector<std::vector<std::vector<T>>>;  // steps, parameters, elements

// Writes all parameters after each step that is checked; false where a gradient was changed.
template <class T> bool played(const Json& vector, Rows<T>& rows) {
  const Json& hyper = vector["hyper"];
  const Adam<T> fresh{T(hyper["beta1"].number()), T(hyper["beta2"].number()), T(hyper["epsilon"].number())};
  std::vector<Adam<T>> optimizers(size_t(vector["tensors"].number()), fresh);
  std::vector<std::vector<T>> params, buffers(optimizers.size());
  while (params.size() < optimizers.size()) {
    const Json& param = at(vector["parameters"].items, params.size());
    size_t count = 1;
    for (const Json& length : param["shape"].items) count *= size_t(length.number());
    params.push_back(array<T>(param["bits"].text, count));
  }
  const auto& checked = vector["checked"].items;
  for (size_t step = 0; step < size_t(checked.back().number()); step++) {
    const auto& grads = at(vector["grads"].items, step).items;
    const T rate = T(at(vector["learning_rates"].items, step).number());
    for (size_t i = 0; i < params.size(); i++) {
      if (at(grads, i).null) continue;
      const auto grad = array<T>(at(grads, i).text, params[i].size());
      buffers[i].assign(grad.begin(), grad.end());  // where the one before was, too
      optimizers[i].step(params[i], buffers[i], rate);
      if (!grad.empty() && std::memcmp(grad.data(), buffers[i].data(), grad.size() * sizeof(T))) return false;
    }
    if (checked[rows.size()].number() == step + 1) rows.push_back(params);
  }
  return true;
}

template <class T> bool near(const Json& vector, const Rows<T>& rows) {
  for (size_t row = 0; row < rows.size(); row++) {
    for (size_t i = 0; i < rows[row].size(); i++) {
      const auto& param = rows[row][i];
      const auto value = array<T>(at(vector["expected"].items[row].items, i).text, param.size());
      std::istringstream errors(at(vector["allowed"].items[row].items, i).text);
      std::vector<double> allowed;
      for (std::string error; errors >> error;) allowed.push_back(std::strtod(error.c_str(), nullptr));
      for (size_t j = 0; j < param.size(); j++) {
        const double limit = at(allowed, j), distance = std::fabs(double(param[j]) - double(value[j]));
        if (std::isnan(limit) ? std::isfinite(param[j]) : !std::isinf(limit) && !(distance <= limit)) return false;
      }
    }
  }
  return true;
}

template <class T> bool same(const Rows<T>& rows, const Rows<T>& others) {
  for (size_t row = 0; row < rows.size(); row++)
    for (size_t i = 0; i < rows[row].size(); i++)
      for (size_t j = 0; j < rows[row][i].size(); j++) {
        const T x = rows[row][i][j], y = others[row][i][j];
        if (x != y && !(std::isnan(x) && std::isnan(y))) return false;
      }
  return true;
}

template <class T> void judge(const Json& set, std::set<std::string>& rejected) {
  std::vector<const Json*> order;
  for (const Json& vector : set["vectors"].items) order.push_back(&vector);
  const std::vector<const Json*> back(order.rbegin(), order.rend());
  order.insert(order.end(), back.begin(), back.end());  // there and back: no run may know the one before
  std::map<std::string, Rows<T>> first;
  for (const Json* vector : order) {
    Rows<T> rows;
    const std::string& id = (*vector)["id"].text;
    const bool unchanged = played(*vector, rows);
    if (unchanged && near(*vector, rows) && same(rows, first.emplace(id, rows).first->second)) continue;
    if (!rejected.insert(id).second) continue;
    std::printf("rejected: %s", id.c_str());
    for (const Json& flag : (*vector)["flags"].items) std::printf(" %s", flag.text.c_str());
    std::printf("\n");
  }
}

int main(int count, char** names) {
  if (count < 2) {
    std::fputs("usage: reader FILE [FILE ...]\n", stderr);  // no file, no verdict
    return 1;
  }
  std::set<std::string> rejected;
  for (int file = 1; file < count; file++) {
    std::ifstream stream(names[file]);
    if (!stream) {
      std::fprintf(stderr, "%s cannot be read\n", names[file]);
      return 1;
    }
    std::string text{std::istreambuf_iterator<char>(stream), {}};
    text.erase(std::remove(text.begin(), text.end(), '\n'), text.end());
    const char* start = text.c_str();
    const Json set = read(start);
    set["dtype"].text == "float32" ? judge<float>(set, rejected) : judge<double>(set, rejected);
  }
  std::printf("%zu rejected\n", rejected.size());
  return !rejected.empty();
}
