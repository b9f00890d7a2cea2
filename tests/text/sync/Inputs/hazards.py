"""Do the dependences of a kernel order every two accesses that conflict? Brute force, for small sizes.

usage: sluice fmt --emit=json KERNEL | hazards.py NAME=VALUE... [deps FILE] [needed] [without PRODUCER CONSUMER LOOP]

Runs the kernel in text order with the given parameters, notes what every instance reads and writes (boxes of elements), and
orders the instances by what the machine promises (a stream issues and retires in order, a queue issues on its trigger) and
what the dependences say (everything through the awaited iteration). Every pair of conflicting instances on different
streams must be ordered: the first retired before the second issues. Dependences are the lines of the kernel; with `deps` those
that the output of `sluice deps --json` in FILE calls `kept`. `needed`: and each of them orders a pair that the others do not.
`without` leaves one out ("" for no loop). Registers have the values that their loads `assume`; an index that is not known covers
all. Exit 1: some pair is not ordered, or some dependence not needed. Shares no code with the tool.
"""

import json
import re
import sys


def evaluate(text, values):
    text = re.sub(r"%([A-Za-z_])", r"register_\1", text.replace("/", "//"))
    return eval(text, {}, values)  # pylint: disable=eval-used


def box_of(operand, dims, values):
    """The elements an operand covers: one half-open range per dimension."""
    box = []
    indices = operand.get("index", [])
    for i, dim in enumerate(dims):
        size = evaluate(dim["size"], values)
        index = indices[i] if i < len(indices) else "all"
        if index in ("all", "any"):
            box.append((0, size))
        elif "at" in index:
            at = evaluate(index["at"], values)
            box.append((at, at + 1))
        else:
            lo = evaluate(index["lo"], values)
            box.append((lo, evaluate(index["hi"], values) if "hi" in index else lo + evaluate(index["length"], values)))
        assert 0 <= box[-1][0] < box[-1][1] <= size, (operand, values)
    return operand["name"], box


class Instance:
    def __init__(self, op, buffers, values, loops, begun):
        self.label, self.stream, self.is_load = op.get("label"), op["stream"], op["opcode"] == "reg_load"
        self.place = {loop: values[loop] for loop in loops}
        self.begun = {loop: begun[loop] for loop in loops}  # iterations of the loop so far, in all its visits
        destinations, sources = op.get("destinations", []), op.get("sources", [])
        destinations = [operand for operand in destinations if "name" in operand]
        box = lambda operand: box_of(operand, buffers[operand["name"]], values)
        self.writes = [box(operand) for operand in destinations]
        self.reads = [box(operand) for operand in sources]
        self.reads += [box(operand) for operand in destinations if operand.get("read_write")]


def instances(kernel, params):
    buffers = {decl["name"]: decl["dims"] for decl in kernel["decls"] if decl["kind"] == "buffer"}
    found, begun = [], {}

    def walk(body, values, loops):
        for stmt in body:
            if stmt["kind"] == "loop":
                for i in range(evaluate(stmt["bound"], values)):
                    begun[stmt["var"]] = begun.get(stmt["var"], 0) + 1
                    walk(stmt["body"], {**values, stmt["var"]: i}, loops + [stmt["var"]])
                continue
            if stmt["opcode"] == "reg_load":
                (assumed,) = [a["expr"] for a in stmt["attributes"] if a["name"] == "assume"]
                values[f"register_{stmt['destinations'][0]['register']}"] = evaluate(assumed, values)
            found.append(Instance(stmt, buffers, values, loops, begun))

    walk(kernel["body"], params, [])
    return found


def awaits(dep, producer, consumer):
    """Whether a line makes this consumer instance wait for this producer instance, which runs before it."""
    if "distance" not in dep:
        return True
    (distance,) = dep["distance"]
    loop, k = distance["loop"], distance["k"]
    if distance.get("across"):
        return producer.begun[loop] <= consumer.begun[loop] - k
    outer = list(consumer.place)[: list(consumer.place).index(loop)]
    visit = [[instance.place[name] for name in outer] for instance in (producer, consumer)]
    awaited = consumer.place[loop] - k
    return awaited >= 0 and (visit[0] < visit[1] or producer.place[loop] <= awaited)


def orders(kernel, run):
    """before[j]: the instances, as bits, that have retired when instance j issues."""
    trigger = {decl["name"]: decl["via"] for decl in kernel["decls"] if decl["kind"] == "queue"}
    issued, retired = [0] * len(run), [0] * len(run)  # instances retired before j issues; before j's retirement ends
    last_issue, last_retire, last_load = {}, {}, {}
    by_label = {}
    for j, consumer in enumerate(run):
        engine = trigger.get(consumer.stream, consumer.stream)
        if engine in last_issue:
            issued[j] |= issued[last_issue[engine]]
        if engine in last_load:  # an engine stops until what it loads is there
            issued[j] |= retired[last_load[engine]]
        for dep in kernel["deps"]:
            if dep["consumer"] == consumer.label:
                for i in by_label.get(dep["producer"], []):
                    if awaits(dep, run[i], consumer):
                        issued[j] |= retired[i]
        retired[j] = issued[j] | 1 << j
        if consumer.stream in last_retire:
            retired[j] |= retired[last_retire[consumer.stream]]
        last_issue[engine] = last_retire[consumer.stream] = j
        if consumer.is_load:
            last_load[engine] = j
        by_label.setdefault(consumer.label, []).append(j)
    return issued


def overlap(some, others):
    return any(a[0] == b[0] and all(x[0] < y[1] and y[0] < x[1] for x, y in zip(a[1], b[1]))
               for a in some for b in others)


def conflicts(run):
    """Pairs of instances on different streams that touch the same, the earlier one first."""
    return [(i, j) for j, later in enumerate(run) for i, earlier in enumerate(run[:j])
            if earlier.stream != later.stream
            and (overlap(earlier.writes, later.reads + later.writes) or overlap(earlier.reads, later.writes))]


def not_ordered(kernel, run, pairs):
    before = orders(kernel, run)
    return [(run[i], run[j]) for i, j in pairs if not before[j] >> i & 1]


def kept_dependences(path, kernel):
    """What `sluice deps --json` says that waits have to enforce, as lines of the kernel."""
    with open(path, encoding="utf-8") as file:
        (answer,) = [found for found in json.load(file)["kernels"] if found["name"] == kernel["name"]]
    lines = []
    for dependence in answer["dependences"]:
        if dependence["status"] != "kept":
            continue
        line = {end: answer["instructions"][dependence[end]["instruction"]]["name"] for end in ("producer", "consumer")}
        carried = dependence["carried"]
        assert "inner" not in carried, "no vectors here"
        if carried["distance"]:
            line["distance"] = [{"loop": answer["blocks"][carried["block"]]["name"], "k": carried["distance"],
                                 "across": carried["across"]}]
        lines.append(line)
    return lines


def text_of(dep):
    distances = [f" ({'across ' * d.get('across', False)}{d['loop']}: {d['k']})" for d in dep.get("distance", [])]
    return f"{dep['producer']} -> {dep['consumer']}" + "".join(distances)


def take(arguments, word, count):
    """The `count` arguments behind a word, which are taken out with it; None without the word."""
    if word not in arguments:
        return None
    at = arguments.index(word)
    found = arguments[at + 1 : at + 1 + count]
    del arguments[at : at + 1 + count]
    return found


def main():
    kernel = json.load(sys.stdin)["kernels"][0]
    arguments = sys.argv[1:]
    without, deps, needed = take(arguments, "without", 3), take(arguments, "deps", 1), take(arguments, "needed", 0)
    if deps:
        assert not kernel.get("deps"), "the kernel has lines of its own"
        kernel["deps"] = kept_dependences(deps[0], kernel)
    if without:
        kept = [dep for dep in kernel["deps"] if [dep["producer"], dep["consumer"]] != without[:2]
                or dep.get("distance", [{"loop": ""}])[0]["loop"] != without[2]]
        assert len(kept) == len(kernel["deps"]) - 1, "no such line"
        kernel["deps"] = kept
    params = {}
    given = dict(argument.split("=") for argument in arguments)
    for param in kernel["params"]:
        params[param["name"]] = int(given.get(param["name"], 0) or evaluate(param["value"], params))
    run = instances(kernel, params)
    pairs = conflicts(run)
    missing = [f"{earlier.label} {earlier.place} -> {later.label} {later.place}"
               for earlier, later in not_ordered(kernel, run, pairs)]
    print(f"{len(run)} instances, {len(pairs)} conflicts, {len(missing)} not ordered", *missing[:3], sep="\n")
    superfluous = []
    if needed is not None and not missing:
        for dep in kernel["deps"]:
            others = {**kernel, "deps": [other for other in kernel["deps"] if other is not dep]}
            if not not_ordered(others, run, pairs):
                superfluous.append(text_of(dep))
        print(f"{len(kernel['deps'])} dependences, {len(superfluous)} not needed", *superfluous, sep="\n")
    sys.exit(bool(missing or superfluous) or not pairs)


main()
