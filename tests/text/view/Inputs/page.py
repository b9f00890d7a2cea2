"""Reads the data of a report from stdin and prints what is in it; also checks that the page needs nothing but itself.

usage: page.py < report.html
"""

import json
import re
import sys

FIELDS = 8
KINDS = ("execute", "flight", "control", "load", "wait", "blocked", "drain", "barrier")


def main():
    page = sys.stdin.read()
    blocks = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert len(blocks) == 1 and page.rstrip().endswith("</html>"), "frame"
    assert page.count("<script") == page.count("</script>") == 2, "a text in the data closes a script"
    outside = page.replace(blocks[0], "")
    assert not re.search(r"https?:|@(css|js|data)@|\bsrc\s*=|@import|url\(", outside), "the page asks for something else"
    assert "default-src 'none'" in outside, "the page may ask for something else"
    data = json.loads(blocks[0])
    for version in data["versions"]:
        print("version", version["name"], "of", version["kernel"], "on", version["target"])
        assert sum(version["path"].values()) == version["ticks"], "the path is the latency"
        print("  cut" if version["cut"] < version["ticks"] else "  whole")
        for stream in version["streams"]:
            numbers = stream["slices"]
            assert len(numbers) % FIELDS == 0
            slices = [numbers[i:i + FIELDS] for i in range(0, len(numbers), FIELDS)]
            kinds = [KINDS[each[0]] for each in slices]
            executed = sum(each[2] for each in slices if each[0] == 0)
            same = "all busy time" if executed == stream["busy"] else "some busy time"
            names = sorted({version["texts"][each[3]] for each in slices if each[0] == 0})
            counts = ", ".join(f"{kind} {kinds.count(kind)}" for kind in KINDS if kind in kinds)
            if stream["shown"]:
                print(f"  stream {stream['name']}: {counts or 'nothing'}; {same}", *names)
            assert all(0 <= share <= 100 for share in stream["overview"])
            total = sum(stream["overview"]) * version["span"] / 100
            assert abs(total - stream["busy"]) <= len(stream["overview"]) * version["span"] / 100 + 1, "overview"
        for stall in version["stalls"]:
            print("  stall", stall["engine"], stall["label"], stall["waits_for"], stall["producer"], stall["count"])


main()
