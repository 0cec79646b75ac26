// A library in C++, and the harness that lets optimetry judge it:
// g++ -O2 -std=c++17 -ffp-contract=off -o harness harness.cpp && optimetry check -- ./harness
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

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

// JSON, as much of it as requests have: objects, arrays, strings without escapes, numbers, null, true, false.

struct Json {
  std::string text;  // of a string, or of a number as it stands
  std::vector<Json> items;
  std::map<std::string, Json> members;
  bool null = false;
  const Json& operator[](const std::string& name) const { return members.at(name); }
  double number() const { return std::strtod(text.c_str(), nullptr); }  // "Infinity" and "NaN" are read as well
};

Json read(const char*& at) {
  Json value;
  if (*at == '{' || *at == '[') {
    const bool object = *at++ == '{';
    while (*at != '}' && *at != ']') {
      std::string name;
      if (object) name = read(at).text, at++;  // the colon
      Json item = read(at);
      if (object) value.members[name] = std::move(item);
      else value.items.push_back(std::move(item));
      if (*at == ',') at++;
    }
    at++;
  } else if (*at == '"') {
    const char* end = std::strchr(++at, '"');
    value.text.assign(at, end);
    at = end + 1;
  } else {
    const char* end = at + std::strcspn(at, ",]}");
    value.text.assign(at, end);
    value.null = value.text == "null";
    at = end;
  }
  return value;
}

// Arrays: little-endian elements in base64. This program is for machines that are little-endian.

const std::string DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

template <class T> std::vector<T> decode(const Json& array) {
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (char digit : array["data"].text) {
    if (digit == '=') break;
    bits = bits << 6 | DIGITS.find(digit), count += 6;
    if (count >= 8) bytes.push_back(char(bits >> (count -= 8) & 255));
  }
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

template <class T> std::string encode(const std::vector<T>& values, const Json& like) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
  const size_t size = values.size() * sizeof(T);
  std::string data, shape;
  for (size_t i = 0; i < size; i += 3) {
    const uint32_t bits = bytes[i] << 16 | (i + 1 < size ? bytes[i + 1] << 8 : 0) | (i + 2 < size ? bytes[i + 2] : 0);
    for (int digit = 0; digit < 4; digit++) data += i + digit > size ? '=' : DIGITS[bits >> (18 - 6 * digit) & 63];
  }
  for (const Json& length : like["shape"].items) shape += (shape.empty() ? "" : ",") + length.text;
  return "{\"dtype\":\"" + like["dtype"].text + "\",\"shape\":[" + shape + "],\"data\":\"" + data + "\"}";
}

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
