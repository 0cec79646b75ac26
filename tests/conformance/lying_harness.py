"""A miniature harness that offers sgd in float64, and tells the lie that its argument names."""

import base64
import json
import os
import struct
import sys
import time

LIE = sys.argv[1] if len(sys.argv) > 1 else "honest"
STATEFUL = LIE.startswith("stateful")
HELLO = {"name": "miniature", "version": "1.0", "protocol": 1, "optimizers": {"sgd": ["float64"]}, "stateful": STATEFUL}
runs = {}
answers = []


def read(array):
    raw = base64.b64decode(array["data"])
    return list(struct.unpack(f"<{len(raw) // 8}d", raw))


def write(values, like):
    data = base64.b64encode(struct.pack(f"<{len(values)}d", *values)).decode()
    return {"dtype": "float64", "shape": like["shape"], "data": data}


class Run:
    def __init__(self, request):
        self.like = request["parameters"]
        self.values = [read(parameter) for parameter in self.like]

    def step(self, request):
        for values, grad in zip(self.values, request["grads"], strict=True):
            for i, g in enumerate(read(grad) if grad else ()):
                values[i] -= request["learning_rate"] * g
        return [write(values, like) for values, like in zip(self.values, self.like, strict=True)]


def answered(request):
    do = request["do"]
    if do == "hello":
        return HELLO
    if do == "run":
        run = Run(request)
        return {"after": [run.step(step) for step in request["steps"]]}
    number = request["run"]
    if do == "start":
        runs[number] = Run(request)
        return {"run": number, "resumable": True}
    if do == "step":
        return {"run": number, "after": runs[number].step(request)}
    if do == "state":
        return {"run": number, "state": {}}
    return {"run": number}


def lied(request, answer):
    """The answer with the lie in it."""
    do, after = request["do"], answer.get("after")
    if do == "hello":
        if LIE == "says another protocol":
            return {**answer, "protocol": 2}
        if LIE == "has no name":
            return {key: value for key, value in answer.items() if key != "name"}
        if LIE == "offers what there is not":
            return {**answer, "optimizers": {"sdg": ["float64"]}}
        if LIE == "offers nothing of an optimizer":
            return {**answer, "optimizers": {"sgd": []}}
        if LIE == "pins what there is not":
            return {**answer, "pinned": {"sgd": {"beta": 1.0}}}
        if LIE == "averages without a session":
            return {**answer, "optimizers": {"exponential_moving_average": ["float64"]}}
    if do == "run" and after:
        array = after[-1][0]
        if LIE == "wrong shape":
            array["shape"] = [array["shape"][0] * array["shape"][1]]
        elif LIE == "wrong dtype":
            array["dtype"], array["data"] = "float32", base64.b64encode(bytes(4 * 6)).decode()
        elif LIE == "wrong size":
            array["data"] = base64.b64encode(bytes(40)).decode()
        elif LIE == "wrong letters":
            array["data"] = "*" + array["data"][1:]
        elif LIE == "too few steps":
            after.pop()
        elif LIE == "too few parameters":
            after[1].pop()
        elif LIE == "a list of numbers":
            after[0][0] = [1.0, 2.0]
        elif LIE == "another member":
            answer["took"] = 0.1
        elif LIE == "fails":
            return {"error": "out of luck"}
        elif LIE == "declines":
            return {"unsupported": "not today"}
        elif LIE == "answers another run":
            answers.append(answer)
            return answers[0]
    if do == "run" and after == [] and LIE == "needs steps":
        return {"error": "no steps"}
    if do == "step" and LIE == "stateful, another number":
        return {**answer, "run": 7}
    if do == "step" and LIE == "stateful, mixes runs up":
        return {**answer, "after": runs[1].step({**request, "grads": [None] * len(request["grads"])})}
    if do == "load" and LIE == "stateful, does not resume":
        return {"error": "cannot load"}
    return answer


def say(text):
    sys.stdout.write(text)
    sys.stdout.flush()


for line in sys.stdin:
    request = json.loads(line)
    do = request["do"]
    if do == "bye":
        if LIE == "stays":
            time.sleep(600)
        sys.exit(3 if LIE == "fails at the end" else 0)
    text = json.dumps(lied(request, answered(request))) + "\n"
    if do != "hello":
        if LIE == "late":
            time.sleep(2)
        elif LIE == "never answers":
            time.sleep(600)
        elif LIE == "truncated line":
            say(text[:40])
            sys.exit(0)
        elif LIE == "half a line":
            say(text[:40])
            time.sleep(600)
        elif LIE == "two lines":
            text += text
        elif LIE == "a second line later":
            say(text)
            time.sleep(0.02)
        elif LIE == "garbage before JSON":
            text = "INFO step done " + text
        elif LIE == "a list":
            text = "[1, 2]\n"
        elif LIE == "lists without end":
            text = "[" * 100_000 + "\n"
        elif LIE == "a line without end":
            text = "x" * 5_000_000
        elif LIE == "closes its output":
            os.close(1)
            time.sleep(600)
    elif LIE == "log before JSON":
        text = "Loading the library\n" + text
    say(text)
    if LIE == "dies after hello":
        sys.stderr.write("licence expired\n")
        sys.exit(1)
