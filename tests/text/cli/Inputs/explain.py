"""Writes `sluice explain --json` (stdin) as the text form says it: both must hold the same answer."""
import json
import sys

SHOWN = 8
VERBS = {"read-after-write": ("reads", "writes"), "write-after-write": ("overwrites", "writes"),
         "write-after-read": ("overwrites", "reads")}


def time(answer, ticks):
    ns = ticks / answer["ticks_per_ns"]
    return "%.1f ns" % ns if ns < 9999.5 else "%.2f us" % (ns / 1e3)


def place(answer, what):
    return answer["file"] + (":%d" % what["line"] if "line" in what else "")


# Consumer and producer of a dependence that was found.
ACCESSES = {"flow": ("it reads", "writes"), "anti": ("it overwrites", "reads"), "output": ("it overwrites", "writes"),
            "ordered": ("it uses the value in", "loads"), "index": ("it goes where it reads in", "writes")}


def named(answer, edge):
    return edge["text"] + ("" if edge["kind"] in ACCESSES else ", " + place(answer, edge))


def accesses(edge):
    words = ACCESSES[edge["kind"]]
    print("     %s: %s %s, `%s` %s %s" % (edge["kind"], words[0], edge.get("access", edge["producer_access"]),
                                          edge["producer"], words[1], edge["producer_access"]))


def inner_distance(loop, distance):
    where = "the iteration" if distance else "the same iteration"
    side = " that is %d %s its own" % (abs(distance), "ahead of" if distance < 0 else "behind") if distance else ""
    return ", there up to %s of %s%s, or to its last" % (where, loop, side)


def dependence(answer, edge):
    distance = edge["distance"]
    before = ("the latest before it" if distance == 0 else "%d iteration%s before" % (distance, "" if distance == 1 else "s"))
    before += (", counted through all visits of " if edge["across"] else " in ") + edge["carried_by"]
    if "inner" in edge:
        before += inner_distance(edge["inner"], edge["inner_distance"])
    print("   until `%s` on %s has retired, %s" % (edge["producer"], edge["stream"], before))
    print("   dependence %s%s" % ("found: " if edge["kind"] in ACCESSES else "", named(answer, edge)))
    if edge["kind"] in ACCESSES:
        accesses(edge)
        return
    for buffer in edge["buffers"]:
        verbs = VERBS[buffer["hazard"]]
        print("     it %s %s, which `%s` %s" % (verbs[0], buffer["name"], edge["producer"], verbs[1]))


def raised_by(wait):
    ops = wait["raised_by"]
    text = ", ".join("`%(label)s` on %(stream)s" % op for op in ops[:SHOWN]) or "nothing"
    more = ", and %d more" % (len(ops) - SHOWN) if len(ops) > SHOWN else ""
    print("   %s is raised by %s%s" % (wait.get("semaphore") or wait["event"], text, more))


def threshold(wait, engine):
    what = wait.get("threshold", {})
    if "number" in what:
        print("   threshold %d, a number" % what["number"])
    if "loop_variable" in what:
        print("   threshold %s, the loop's variable" % what["loop_variable"])
    if "register" not in what:
        return
    print("   threshold %%%s, which %s computes:" % (what["register"], engine))
    for operation in what["code"]:
        print("     %-41s %s" % (operation["text"], operation["place"]))


def cost(answer, wait, engine):
    if "cost" not in wait:
        return
    what = wait["cost"]
    if what["count"] == 0:
        print("   cost: never idle here")
        return
    print("   cost: %s idle %s in %d execution%s, at most %s at once; %.1f %% of the latency"
          % (engine, time(answer, what["ticks"]), what["count"], "" if what["count"] == 1 else "s",
             time(answer, what["longest"]), 100 * what["ticks"] / answer["ticks"]))


def reason(edge):
    if edge["ordered_by"] == "stream":
        return "%s keeps its instructions in order" % edge["stream"]
    if "same_as" in edge:
        return "it says no more than " + ", ".join(edge["same_as"])
    if "implied_by" in edge:
        return "implied by " + (", ".join(edge["implied_by"]) or "the order of the streams")
    return "other waits or barriers order it (`sluice check` decides)"


def instruction(answer, op):
    issued = ", issued by " + op["engine"] if op["engine"] != op["stream"] else ""
    print("`%s` on %s%s, in %s, %s" % (op["label"], op["stream"], issued, op["in"], place(answer, op)))
    for number, wait in enumerate(op["waits"]):
        print("%d. wait %s%s" % (number + 1, wait["text"], "" if wait["own_slot"] else ", in a slot before it"))
        for edge in wait["dependences"]:
            dependence(answer, edge)
        if not wait["dependences"]:
            print("   no dependence of it is on an instruction that raises this: it is there for what comes after "
                  "it,\n   or not needed; `sluice check` says which")
        raised_by(wait)
        threshold(wait, op["engine"])
        cost(answer, wait, op["engine"])
    if not op["waits"]:
        print("it waits for nothing")
    for edge in op["no_wait_for"]:
        print("no wait for %s: %s" % (named(answer, edge), reason(edge)))


def main():
    answer = json.load(sys.stdin)
    assert answer["schema"] == "sluice-explain-1"
    for number, op in enumerate(answer["instructions"]):
        print("\n" if number else "", end="")
        instruction(answer, op)
    if "no_costs_because" in answer:
        print("costs are not known: " + answer["no_costs_because"])


main()
