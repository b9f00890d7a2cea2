"""Reads a report of `sluice check` on stdin, checks its structure and prints what it says.

usage: report.py json|sarif

json: the keys that docs/check.md lists, no others. sarif: what SARIF 2.1.0 asks of the objects that are used
(required properties, types, enumerations, indices, a URI reference where there must be one).
"""

import json
import re
import sys

URI = re.compile(r"^(file:///|[^:/?#]*(/|$))([A-Za-z0-9._~/-]|%[0-9A-F]{2})*$")


def check(condition, what):
    if not condition:
        print("not valid:", what)
        sys.exit(1)


def keys(value, where, required, optional=()):
    check(isinstance(value, dict), f"{where} is no object")
    check(set(required) <= set(value), f"{where} lacks {set(required) - set(value)}")
    check(set(value) <= set(required) | set(optional), f"{where} has {set(value) - set(required) - set(optional)}")


def name_of(path):
    return path.split("/")[-1]


# ---- JSON ----

def place(value):
    if "line" not in value:
        check("column" not in value, "a column without a line")
        return ""
    check(value["line"] > 0 and value["column"] > 0, "places count from 1")
    return f" at {name_of(value['file'])}:{value['line']}:{value['column']}"


def read_kernel(kernel):
    keys(kernel, "kernel", ["name", "verdict"], ["runs", "events", "instances", "sample", "exact", "tried"])
    check(kernel["verdict"] in ("ok", "wrong", "undecided"), "verdict of a kernel")
    for key, kind in (("runs", int), ("events", int), ("instances", int), ("sample", bool), ("exact", bool), ("tried", str)):
        check(isinstance(kernel[key], kind), f"{key} of a kernel")
    print(f"kernel {kernel['name']}: {kernel['verdict']}, {kernel['runs']} runs, tried {kernel['tried']}")


def read_finding(finding):
    keys(finding, "finding", ["rule", "severity", "kernel", "text", "file", "notes"], ["line", "column", "origin"])
    check(finding["severity"] in ("error", "warning", "note"), "severity")
    print(f"{finding['severity']} {finding['rule']} in {finding['kernel']}{place(finding)}: {finding['text']}")
    if "origin" in finding:
        keys(finding["origin"], "origin", ["file", "line", "column"])
        print(f"  origin {finding['origin']['file']}:{finding['origin']['line']}:{finding['origin']['column']}")
    for note in finding["notes"]:
        keys(note, "note", ["text", "file"], ["line", "column"])
        print(f"  note{place(note)}: {note['text']}")


def read_json(root):
    keys(root, "report", ["schema", "sluice", "file", "verdict", "kernels", "findings"], ["against"])
    check(root["schema"] == "sluice-check-1", "schema")
    print("valid, verdict", root["verdict"])
    for kernel in root["kernels"]:
        read_kernel(kernel)
    for finding in root["findings"]:
        read_finding(finding)


# ---- SARIF ----

def text(message, where):
    keys(message, where, ["text"])
    check(isinstance(message["text"], str) and message["text"], f"{where} is empty")


def location(physical):
    keys(physical, "physicalLocation", ["artifactLocation"], ["region"])
    keys(physical["artifactLocation"], "artifactLocation", ["uri"])
    uri = physical["artifactLocation"]["uri"]
    check(URI.match(uri), f"{uri} is no URI reference")
    if "region" not in physical:
        return uri, ""
    keys(physical["region"], "region", ["startLine", "startColumn"])
    check(physical["region"]["startLine"] > 0 and physical["region"]["startColumn"] > 0, "regions count from 1")
    return uri, f"{physical['region']['startLine']}:{physical['region']['startColumn']}"


def read_rules(driver):
    keys(driver, "driver", ["name", "version", "semanticVersion", "rules"])
    for rule in driver["rules"]:
        keys(rule, "rule", ["id", "shortDescription", "help", "defaultConfiguration"])
        text(rule["shortDescription"], "shortDescription")
        text(rule["help"], "help")
        check(rule["shortDescription"]["text"] != rule["id"], f"rule {rule['id']} has no summary")
        check(rule["defaultConfiguration"]["level"] in ("none", "note", "warning", "error"), "level of a rule")
    ids = [rule["id"] for rule in driver["rules"]]
    check(len(set(ids)) == len(ids), "a rule stands twice")
    print(f"valid, {len(ids)} rules")
    return ids


def read_result(result, ids):
    keys(result, "result", ["ruleId", "ruleIndex", "level", "message", "locations", "relatedLocations"])
    check(ids[result["ruleIndex"]] == result["ruleId"], "ruleIndex")
    check(result["level"] in ("none", "note", "warning", "error"), "level of a result")
    text(result["message"], "message")
    check(len(result["locations"]) == 1, "one location")
    keys(result["locations"][0], "location", ["physicalLocation", "logicalLocations"])
    uri, where = location(result["locations"][0]["physicalLocation"])
    related = []
    for other in result["relatedLocations"]:
        keys(other, "related location", ["id", "physicalLocation", "message"])
        text(other["message"], "message of a related location")
        check(other["message"]["text"] in result["message"]["text"].split("\n"), "the message has all of the witness")
        related.append(location(other["physicalLocation"])[1])
    kernel = result["locations"][0]["logicalLocations"][0]["name"]
    print(f"{result['level']} {result['ruleId']} at {uri}:{where} in {kernel}, related: {' '.join(related)}")


def read_sarif(root):
    keys(root, "log", ["$schema", "version", "runs"])
    check(root["version"] == "2.1.0" and root["$schema"].endswith("sarif-schema-2.1.0.json"), "version")
    check(len(root["runs"]) == 1, "one run")
    run = root["runs"][0]
    keys(run, "run", ["tool", "results", "columnKind", "properties"])
    check(run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints"), "columnKind")
    keys(run["tool"], "tool", ["driver"])
    ids = read_rules(run["tool"]["driver"])
    for result in run["results"]:
        read_result(result, ids)


{"json": read_json, "sarif": read_sarif}[sys.argv[1]](json.load(sys.stdin))
