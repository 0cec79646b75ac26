"""Faults in the Adam of each reader of test vectors: texts that are replaced, and the vectors that then reject it."""

from typing import NamedTuple

MOMENT_JS = "m[i] = f(f(f(beta1) * m[i]) + f(f(1 - f(beta1)) * g[i]));"
MOMENT_CPP = "m[i] = beta1 * m[i] + (1 - beta1) * g[i];"
MOMENT_PY = "self.moment1 = self.beta1 * self.moment1 + (1 - self.beta1) * grad"
BEGUN_PY = "self.moment1, self.moment2, self.steps = np.zeros_like(param), np.zeros_like(param), 0"


class ReaderFault(NamedTuple):
    """What is replaced in each reader, by what.

    Attributes:
        py: in the reader in Python.
        js: in JavaScript.
        cpp: in C++.
        rejected: the ends of the ids of vectors that reject it.
        alone: whether no others do.
    """

    py: dict[str, str]
    js: dict[str, str]
    cpp: dict[str, str]
    rejected: set[str]
    alone: bool = False


ALL = {"nonfinite", "large", "many", "long"}

READER_FAULTS = {
    "epsilon under the root": ReaderFault(
        {"np.sqrt(self.moment2) + self.epsilon": "np.sqrt(self.moment2 + self.epsilon)"},
        {"f(f(Math.sqrt(v[i])) + f(epsilon))": "f(Math.sqrt(f(v[i] + f(epsilon))))"},
        {"std::sqrt(v[i]) + epsilon": "std::sqrt(v[i] + epsilon)"},
        ALL,
    ),
    "a count in eight bits": ReaderFault(
        {"self.steps += 1": "self.steps = self.steps % 255 + 1"},
        {
            "let b1 = 1, b2 = 1;": "let b1 = 1, b2 = 1, steps = 0;",
            "b1 = f(b1 * f": "if (steps++ % 255 === 0) b1 = b2 = 1;\n    b1 = f(b1 * f",
        },
        {
            "T b1 = 1, b2 = 1;": "T b1 = 1, b2 = 1;\n  int steps = 0;",
            "b1 *= beta1,": "if (steps++ % 255 == 0) b1 = b2 = 1;\n    b1 *= beta1,",
        },
        {"long"},
        alone=True,
    ),
    "one block of 4096 elements": ReaderFault(
        {
            "param -= param.dtype.type(rate)": "rate = rate * (np.arange(param.size) < 4096).reshape(param.shape)\n"
            "        param -= rate.astype(param.dtype)"
        },
        {"i < p.length": "i < Math.min(p.length, 4096)"},
        {"i < p.size()": "i < std::min(p.size(), size_t(4096))"},
        {"large"},
        alone=True,
    ),
    "320 tensors": ReaderFault(
        {"zip(params, optimizers, buffers,": "zip(params[:320], optimizers[:320], buffers[:320],"},
        {"i < params.length": "i < Math.min(params.length, 320)"},
        {"i < params.size()": "i < std::min(params.size(), size_t(320))"},
        {"many"},
        alone=True,
    ),
    "zero for NaN": ReaderFault(
        {"self.steps += 1": "self.steps, grad = self.steps + 1, np.where(np.isnan(grad), 0, grad).astype(grad.dtype)"},
        {"(p, g, lr) => {": "(p, given, lr) => {\n    const g = given.map((x) => x || 0);"},
        {
            "const std::vector<T>& g, T lr) {": "std::vector<T> g, T lr) {\n"
            "    for (T& x : g) x = std::isnan(x) ? 0 : x;"
        },
        {"nonfinite"},
        alone=True,
    ),
    "gradients scaled in place": ReaderFault(
        {"param -= ": "grad *= 2\n        param -= "},
        {"p[i] -= ": "g[i] *= 2, p[i] -= "},
        {
            "const std::vector<T>& g, T lr)": "std::vector<T>& g, T lr)",
            "p[i] -= rate": "g[i] *= 2, p[i] -= rate",
        },
        ALL,
    ),
    "the first moment has the array of the gradient": ReaderFault(
        {
            BEGUN_PY: BEGUN_PY + "\n        self.base, self.kept = np.zeros_like(param), np.zeros_like(param)",
            MOMENT_PY: "self.base = self.beta1 * self.base + (1 - self.beta1) * self.kept\n"
            "        self.moment1, self.kept = self.beta1 * self.base + (1 - self.beta1) * grad, grad",
        },
        {
            "let b1 = 1, b2 = 1;": "const base = new Float64Array(size);\n  let b1 = 1, b2 = 1, kept = m;",
            MOMENT_JS: MOMENT_JS.replace("m[i]", "base[i]").replace("g[i]", "kept[i]")
            + "\n      "
            + MOMENT_JS.replace("* m[i]", "* base[i]"),
            "    }\n  };": "    }\n    kept = g;\n  };",
        },
        {
            "std::vector<T> m, v;": "std::vector<T> m, v, base;\n  const std::vector<T>* kept = nullptr;",
            "m.resize(p.size()),": "base.resize(p.size()), m.resize(p.size()),",
            MOMENT_CPP: MOMENT_CPP.replace("m[i]", "base[i]").replace("g[i]", "(kept ? (*kept)[i] : 0)")
            + "\n      "
            + MOMENT_CPP.replace("* m[i]", "* base[i]"),
            "+ epsilon);\n    }": "+ epsilon);\n    }\n    kept = &g;",
        },
        ALL,
    ),
    "a last bit of the rate in every third run": ReaderFault(
        {
            BEGUN_PY: BEGUN_PY + "\n        Adam.runs = getattr(Adam, 'runs', 0) + 1\n"
            "        self.last = 0 if Adam.runs % 3 else 1.2e-7",
            "dtype.type(rate)": "dtype.type(rate * (1 + self.last))",
        },
        {
            "function adam(": "let runs = 0;\nfunction adam(",
            "let b1 = 1,": "const last = ++runs % 3 ? 0 : 1.2e-7;\n  let b1 = 1,",
            "const rate = ": "const rate = f(1 + last) * ",
        },
        {
            "template <class T> struct Adam {": "inline int runs = 0;\ntemplate <class T> struct Adam {",
            "std::vector<T> m, v;": "std::vector<T> m, v;\n  T last = 0;",
            "m.resize(p.size()),": "if (m.empty()) last = ++runs % 3 ? 0 : 1.2e-7;\n    m.resize(p.size()),",
            "const T rate = lr": "const T rate = (1 + last) * lr",
        },
        {"large", "nonfinite"},
    ),
}
