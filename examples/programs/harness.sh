#!/bin/bash
# sgd in bash and awk, which compute in float64, and its harness: optimetry check -- examples/programs/harness.sh
export LC_ALL=C

run='
function value(at,   name, i) {  # reads the JSON at TEXT into J: one entry for each number or string, by its path
  if (sub(/^\{/, "", TEXT)) {
    while (!sub(/^\}/, "", TEXT)) {
      sub(/^,/, "", TEXT)
      match(TEXT, /^"[^"]*":/)
      name = substr(TEXT, 2, RLENGTH - 3)
      TEXT = substr(TEXT, RLENGTH + 1)
      value(at "." name)
    }
  } else if (sub(/^\[/, "", TEXT)) {
    for (i = 0; !sub(/^\]/, "", TEXT); i++) { sub(/^,/, "", TEXT); value(at "." i) }
    J[at ".length"] = i
  } else {
    match(TEXT, /^("[^"]*"|[^],}]*)/)
    J[at] = substr(TEXT, 1, RLENGTH)
    gsub(/"/, "", J[at])
    TEXT = substr(TEXT, RLENGTH + 1)
  }
}
function doubles(data, into,   n, i, k, bits, count, byte, bytes, high, exponent, fraction) {  # base64 to numbers
  for (i = 1; i <= length(data) && substr(data, i, 1) != "="; i++) {
    bits = bits % 65536 * 64 + index(DIGITS, substr(data, i, 1)) - 1
    if ((count += 6) >= 8) { count -= 8; byte[bytes++] = int(bits / 2 ^ count) % 256 }
  }
  for (n = 0; 8 * n < bytes; n++) {
    high = byte[8 * n + 7] * 256 + byte[8 * n + 6]
    exponent = int(high / 16) % 2048
    fraction = high % 16
    for (k = 5; k >= 0; k--) fraction = fraction * 256 + byte[8 * n + k]
    if (exponent == 2047) into[n] = fraction ? log(-1) : -log(0)
    else if (exponent) into[n] = (1 + fraction / 2 ^ 52) * 2 ^ (exponent - 1023)
    else into[n] = fraction / 2 ^ 52 * 2 ^ -1022
    if (high >= 32768) into[n] = -into[n]
  }
  return n
}
function letters(from, n,   data, i, k, x, text, sign, e, exponent, fraction, byte, bits) {  # numbers to base64
  for (i = 0; i < n; i++) {
    x = from[i]; text = sprintf("%g", x); sign = text ~ /^-/; exponent = fraction = 0
    if (sign) x = -x
    if (text ~ /nan/) { exponent = 2047; fraction = 2 ^ 51 }
    else if (text ~ /inf/) exponent = 2047
    else if (x > 0 && x < 2 ^ -1022) fraction = x * 2 ^ 1000 * 2 ^ 74
    else if (x > 0) {
      e = int(log(x) / log(2))
      if (e > 1023) e = 1023
      if (e < -1022) e = -1022
      while (x / 2 ^ e >= 2) e++
      while (x / 2 ^ e < 1) e--
      exponent = e + 1023
      fraction = (x / 2 ^ e - 1) * 2 ^ 52
    }
    for (k = 0; k < 6; k++) { byte[8 * i + k] = fraction % 256; fraction = int(fraction / 256) }
    byte[8 * i + 6] = exponent % 16 * 16 + fraction
    byte[8 * i + 7] = sign * 128 + int(exponent / 16)
  }
  for (i = 0; i < 8 * n; i += 3) {
    bits = byte[i] * 65536 + byte[i + 1] * 256 + byte[i + 2]
    for (k = 3; k >= 0; k--)
      data = data (i + 3 - k > 8 * n ? "=" : substr(DIGITS, int(bits / 64 ^ k) % 64 + 1, 1))
  }
  return data
}
BEGIN {
  DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
  getline TEXT
  value("")
  for (p = 0; p < J[".parameters.length"]; p++) {
    size[p] = doubles(J[".parameters." p ".data"], one)
    for (i = 0; i < size[p]; i++) w[p, i] = one[i]
    for (i = 0; i < J[".parameters." p ".shape.length"]; i++)
      shape[p] = shape[p] (i ? "," : "") J[".parameters." p ".shape." i]
  }
  for (s = 0; s < J[".steps.length"]; s++) {
    row = ""
    for (p = 0; p < J[".parameters.length"]; p++) {
      rate = J[".steps." s ".learning_rate"] + 0
      doubles(J[".steps." s ".grads." p ".data"], g)
      for (i = 0; i < size[p]; i++) {
        if (J[".steps." s ".grads." p] != "null") w[p, i] -= rate * g[i]
        one[i] = w[p, i]
      }
      row = row (p ? "," : "") "{\"dtype\":\"float64\",\"shape\":[" shape[p] "],\"data\":\"" letters(one, size[p]) "\"}"
    }
    after = after (s ? "," : "") "[" row "]"
  }
  print "{\"after\":[" after "]}"
}'

while IFS= read -r line; do
  case $line in
    *'"do":"hello"'*) echo '{"name":"example.sh","version":"1.0","protocol":1,"optimizers":{"sgd":["float64"]}}' ;;
    *'"do":"run"'*) awk "$run" <<< "$line" ;;
    *) exit 0 ;;
  esac
done
