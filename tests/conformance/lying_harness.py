"""A miniature harness that offers sgd in float64, and tells the lie that its argument names."""

import base64
import json
import math
import os
import struct
import sys
import time

LIE = sys.argv[1] if len(sys.argv) > 1 else "honest"
STATEFUL, PACKED = LIE.startswith("stateful"), LIE.startswith("packed")
HELLO = {"name": "miniature", "version": "1.0", "protocol": 1, "optimizers": {"sgd": ["float64"]}, "stateful": STATEFUL}
HELLO |= {"offers": ["groups"], "several": True} if STATEFUL else {"packed": PACKED}
runs = {}
answers = []


def read(array):
    raw = base64.b64decode(array["data"])
    return list(struct.unpack(f"<{len(raw) // 8}d", raw))


def write(values, like):
    data = base64.b64encode(struct.pack(f"<{len(values)}d", *values)).decode()
    return {"dtype": "float64", "shape": like["shape"], "data": data}


def unpacked(request):
    """The run of a packed request, as in lines."""
    raw, dtype = memoryview(sys.stdin.buffer.read(request["bytes"])), request["dtype"]

    def array(shape):
        nonlocal raw
        size = 8 * math.prod(shape)
        data, raw = base64.b64encode(raw[:size]).decode(), raw[size:]
        return {"dtype": dtype, "shape": shape, "data": data}

    parameters, steps = [array(shape) for shape in request["shapes"]], []
    for step, rate in enumerate(request["learning_rates"]):
        missing = [i for at, i in request["missing"] if at == step]
        grads = [None if i in missing else array(shape) for i, shape in enumerate(request["shapes"])]
        steps.append({"grads": grads, "learning_rate": rate})
    return {"parameters": parameters, "steps": steps}


def packed(request):
    """The answer to a packed request: a line, and what follows it."""
    after = answered({"do": "run", **unpacked(request)})["after"]
    raw = b"".join(base64.b64decode(array["data"]) for row in after for array in row)
    size = len(raw)
    if LIE == "packed, too few bytes":
        raw = raw[:-8]
    elif LIE == "packed, too many bytes":
        raw += bytes(8)
    elif LIE == "packed, says fewer bytes":
        size, raw = size - 8, raw[:-8]
    elif LIE == "packed, says more bytes":
        size, raw = size + 8, raw + bytes(8)
    elif LIE == "packed, bytes as text":
        size = str(size)
    elif LIE == "packed, other bytes":
        raw = raw[8:] + raw[:8]
    elif LIE == "packed, dies in the middle":
        sys.stdout.buffer.write(b'{"bytes": %d}\n' % size + raw[:16])
        sys.stdout.buffer.flush()
        os._exit(0)
    return json.dumps({"bytes": size}).encode() + b"\n" + raw


def mean(arrays, count):
    """The sum of a parameter's gradients, divided by the count; None where they are missing."""
    if arrays[0] is None:
        return None
    sums = [sum(values) / count for values in zip(*map(read, arrays), strict=True)]
    return write(sums, arrays[0])


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
    if do == "several":
        answers = [lied(each, answered(each)) for each in request["requests"]]
        if LIE == "stateful, leaves an answer out":
            answers.pop()
        elif LIE == "stateful, answers in another order":
            answers.reverse()
        elif LIE == "stateful, fails among several":
            answers[1] = {"error": "out of luck"}
        return {"answers": answers}
    number = request["run"]
    if do == "start":
        runs[number] = Run(request)
        return {"run": number, "resumable": True, "takes": ["step_scaled", "step_accumulated"]}
    if do == "step":
        return {"run": number, "after": runs[number].step(request)}
    if do == "step_scaled":
        rate = request["learning_rate"] / (1 if LIE == "stateful, forgets the scale" else request["scale"])
        return {"run": number, "after": runs[number].step({**request, "learning_rate": rate})}
    if do == "step_accumulated":
        count = 1 if LIE == "stateful, sums the parts" else len(request["parts"])
        grads = [mean(of_one, count) for of_one in zip(*request["parts"], strict=True)]
        return {"run": number, "after": runs[number].step({**request, "grads": grads})}
    if do == "start_groups":
        runs[number] = [Run(group) for group in request["groups"]]
    if do == "add_group":
        runs[number].append(runs[number][0] if LIE == "stateful, adds the first group" else Run(request))
    if do == "step_groups":
        grads, after = request["grads"], []
        for run, rate in zip(runs[number], request["learning_rates"], strict=True):
            own, grads = grads[: len(run.like)], grads[len(run.like) :]
            after += run.step({"grads": own, "learning_rate": rate})
        return {"run": number, "after": after}
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


for line in sys.stdin.buffer:
    request = json.loads(line)
    do = request["do"]
    if do == "bye":
        if LIE == "stays":
            time.sleep(600)
        sys.exit(3 if LIE == "fails at the end" else 0)
    if do == "run_packed":
        sys.stdout.buffer.write(packed(request))
        sys.stdout.flush()
        continue
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
