"""Reads a trace (a file, or - for stdin) as JSON and prints its lanes, what is on them, and its counters.

usage: trace.py FILE
"""

import collections
import json
import sys


def main():
    with sys.stdin if sys.argv[1] == "-" else open(sys.argv[1], encoding="utf-8") as file:
        trace = json.load(file)
    events = trace["traceEvents"]
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] in ("process_name", "thread_name")}
    slices = collections.defaultdict(list)
    values = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            slices[event["pid"], event["tid"]].append(event)
        elif event["ph"] == "C":
            values[event["name"]].append(event["args"]["value"])
    print("kernel", trace["otherData"]["kernel"], "on", trace["otherData"]["target"])
    for (process, thread), name in sorted(names.items()):
        if thread == 0:
            print("process", name)
            continue
        here = slices[process, thread]
        kinds = collections.Counter(each["cat"] for each in here)
        print(f"  {name}:", ", ".join(f"{kind} {kinds[kind]}" for kind in sorted(kinds)) or "nothing")
    for name, list_of_values in values.items():
        print("counter", name + ":", *list_of_values)
    for event in (each for each in events if each["ph"] == "X" and each["cat"] == "execute"):
        print("execute", names[event["pid"], 0], event["name"], event["args"].get("iteration", "-"), event["args"].get("line", "-"))
    ends = [event for event in events if event["ph"] in "sf"]
    print("arrows", len(ends) // 2, *sorted({names[e["pid"], 0] for e in ends if e["ph"] == "s"}), "->",
          *sorted({names[e["pid"], 0] for e in ends if e["ph"] == "f"}))
    times = [(e["ts"], e["ts"] + e["dur"]) for here in slices.values() for e in here]
    print("from", min(t for t, _ in times), "to", round(max(t for _, t in times), 3))


main()
