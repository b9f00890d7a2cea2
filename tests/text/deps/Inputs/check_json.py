"""Whether the JSON of `sluice deps` on stdin is as docs/deps.md says: keys, types, numbers that refer to others."""
import json
import sys

KINDS = {"stated", "flow", "anti", "output", "ordered", "index"}
STATUSES = {"kept", "spilled", "hardware", "same", "implied"}
PLACE = {"line", "column"}


def keys(value, required, optional=frozenset()):
    assert set(required) <= set(value) <= set(required) | set(optional), sorted(value)


def check_overlap(overlap):
    keys(overlap, {"class", "text", "anywhere", "placed", "partitions", "bytes"}, {"bytes_around"})
    for interval in overlap["partitions"], overlap["bytes"]:
        low, high = interval
        assert isinstance(low, int) and (high is None or low < high), interval


def check_dependence(dependence, kernel, ids):
    keys(dependence, {"id", "text", "kind", "status", "producer", "consumer", "carried"}, {"overlap", "implied_by"} | PLACE)
    assert dependence["kind"] in KINDS and dependence["status"] in STATUSES
    for end in dependence["producer"], dependence["consumer"]:
        keys(end, {"instruction"}, {"access", "buffer"})
    names = [kernel["instructions"][dependence[end]["instruction"]]["name"] for end in ("producer", "consumer")]
    assert dependence["text"].startswith(" -> ".join(names)), dependence["text"]
    carried = dependence["carried"]
    keys(carried, {"block", "distance", "across"}, {"inner"})
    assert carried["distance"] == 0 or kernel["blocks"][carried["block"]]["kind"] == "loop"
    assert ("overlap" in dependence) == (dependence["kind"] not in ("stated", "ordered"))
    if "overlap" in dependence:
        check_overlap(dependence["overlap"])
    assert all(number in ids and number != dependence["id"] for number in dependence.get("implied_by", []))


def check_kernel(kernel):
    keys(kernel, {"name", "blocks", "instructions", "dependences"})
    for number, block in enumerate(kernel["blocks"]):
        keys(block, {"kind", "name", "text"}, {"parent"} | PLACE)
        assert (number == 0) == (block["kind"] == "kernel") and block.get("parent", -1) < number
    for instruction in kernel["instructions"]:
        keys(instruction, {"name", "stream", "opcode", "block"}, PLACE)
        assert instruction["block"] < len(kernel["blocks"])
    ids = {dependence["id"] for dependence in kernel["dependences"]}
    assert len(ids) == len(kernel["dependences"])
    for dependence in kernel["dependences"]:
        check_dependence(dependence, kernel, ids)


report = json.load(sys.stdin)
keys(report, {"schema", "sluice", "file", "kernels"})
assert report["schema"] == "sluice-deps-1" and report["kernels"]
for each in report["kernels"]:
    check_kernel(each)
print("good")
