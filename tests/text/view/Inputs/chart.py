"""Reads an SVG chart as XML and prints what its bars are; a bar's height must be its value's.

usage: chart.py FILE
"""

import sys
import xml.etree.ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def main():
    root = xml.etree.ElementTree.parse(sys.argv[1]).getroot()
    width, scales = float(root.get("width")), []
    for text in root.iter(SVG + "text"):
        if text.get("text-anchor") != "end":
            print("text", text.text)
    for bar in (rect for rect in root.iter(SVG + "rect") if rect.get("class") == "bar"):
        name, _, value = bar.find(SVG + "title").text.rpartition(": ")
        print("bar", name, value)
        assert 0 <= float(bar.get("x")) <= width - float(bar.get("width")), "outside"
        scales.append(float(bar.get("height")) / float(value))
    assert max(scales) - min(scales) < max(scales) / 100, scales


main()
