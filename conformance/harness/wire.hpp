// What a harness in C++ needs to read requests and to write answers: JSON and base64, with the standard library alone.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

// JSON, as much of it as requests have: objects, arrays, strings without escapes, numbers, null, true, false.

struct Json {
  std::string text;  // of a string, or of a number as it stands
  std::vector<Json> items;
  std::map<std::string, Json> members;
  bool null = false;
  const Json& operator[](const std::string& name) const { return members.at(name); }
  double number() const { return std::strtod(text.c_str(), nullptr); }  // "Infinity" and "NaN" are read as well
};

inline Json read(const char*& at) {
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

inline const std::string DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

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

// The elements of an array, with its dtype, and its lengths with commas between them.
template <class T> std::string encode(const std::vector<T>& values, const std::string& dtype, const std::string& shape) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
  const size_t size = values.size() * sizeof(T);
  std::string data;
  for (size_t i = 0; i < size; i += 3) {
    const uint32_t bits = bytes[i] << 16 | (i + 1 < size ? bytes[i + 1] << 8 : 0) | (i + 2 < size ? bytes[i + 2] : 0);
    for (int digit = 0; digit < 4; digit++) data += i + digit > size ? '=' : DIGITS[bits >> (18 - 6 * digit) & 63];
  }
  return "{\"dtype\":\"" + dtype + "\",\"shape\":[" + shape + "],\"data\":\"" + data + "\"}";
}

template <class T> std::string encode(const std::vector<T>& values, const Json& like) {
  std::string shape;
  for (const Json& length : like["shape"].items) shape += (shape.empty() ? "" : ",") + length.text;
  return encode(values, like["dtype"].text, shape);
}
