"""Checks JSON on stdin against docs/kernel.schema.json: the part of JSON Schema that the schema uses, and no more.

usage: validate.py SCHEMA < FILE; prints `valid`, or where it is not valid, and exits with 1 then.
"""

import json
import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    SCHEMA = json.load(file)
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "null": type(None)}
KNOWN = {"$schema", "$ref", "$defs", "title", "description", "default", "type", "const", "enum", "oneOf", "pattern",
         "minimum", "maximum", "minItems", "items", "properties", "required", "additionalProperties"}


def has_type(value, names):
    names = [names] if isinstance(names, str) else names
    return any(isinstance(value, TYPES[name]) and not (name == "integer" and isinstance(value, bool)) for name in names)


def problems(value, schema, where):
    """What is wrong, as a list of texts."""
    unknown = set(schema) - KNOWN
    if unknown:
        return [f"{where}: the schema uses {unknown}, which this checker does not know"]
    found = []
    if "$ref" in schema:
        found += problems(value, SCHEMA["$defs"][schema["$ref"].split("/")[-1]], where)
    if "const" in schema and value != schema["const"]:
        found.append(f"{where}: not {schema['const']!r}")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{where}: not one of {schema['enum']}")
    if "type" in schema and not has_type(value, schema["type"]):
        return found + [f"{where}: not of type {schema['type']}"]
    if "oneOf" in schema:
        fits = [problems(value, choice, where) for choice in schema["oneOf"]]
        if sum(not choice for choice in fits) != 1:
            found.append(f"{where}: fits {sum(not choice for choice in fits)} of the choices: {min(fits, key=len)}")
    if "pattern" in schema and not re.search(schema["pattern"], value):
        found.append(f"{where}: does not match {schema['pattern']}")
    if value is not None and not isinstance(value, (str, list, dict)):
        if value < schema.get("minimum", value) or value > schema.get("maximum", value):
            found.append(f"{where}: out of range")
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            found.append(f"{where}: too short")
        for index, element in enumerate(value):
            found += problems(element, schema.get("items", {}), f"{where}[{index}]")
    if isinstance(value, dict) and "properties" in schema:
        found += [f"{where}: lacks {key}" for key in schema["required"] if key not in value]
        for key, member in value.items():
            if key in schema["properties"]:
                found += problems(member, schema["properties"][key], f"{where}.{key}")
            else:
                found.append(f"{where}: unknown key {key}")
    return found


wrong = problems(json.load(sys.stdin), SCHEMA, "$")
print("\n".join(wrong) if wrong else "valid")
sys.exit(1 if wrong else 0)
