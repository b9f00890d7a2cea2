#!/usr/bin/env python3
"""Builds everything, runs every test, and ends with one line: `N passed, N failed`.

Each single check counts: a unit test, a text test, a replayed fuzz input, an exported symbol, a build without
warnings. The tests are ctest's; what they print (TAP lines of programs and scripts, lit's result lines) says how
many checks a test made. A test that prints no such line counts as one. Skipped checks are listed with their reasons
and counted apart.

Builds: BUILD (gcc), BUILD/clang, BUILD/asan (clang, ASan + UBSan), BUILD/tsan (clang, the threads test alone);
with --long BUILD and BUILD/fuzz (libFuzzer).
"""

import argparse
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
TAP_LINE = re.compile(r"^(ok|not ok)\b(.*)$")
LIT_LINE = re.compile(r"^(PASS|XFAIL|FAIL|XPASS|UNRESOLVED|TIMEOUT|UNSUPPORTED): (.*) \(\d+ of \d+\)$")
LIT_PASSED = ("PASS", "XFAIL")
NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
SHOWN_LINES = 120


@dataclasses.dataclass
class Build:
    """One way to build the project and what is run there."""

    name: str
    directory: pathlib.Path
    compiler: str
    settings: list
    tests: str = "."  # ctest's -R
    target: str = "all"


@dataclasses.dataclass
class Tally:
    passed: int = 0
    failed: int = 0
    skipped: list = dataclasses.field(default_factory=list)

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped


def say(text=""):
    print(text, flush=True)


def show(lines):
    """These lines, indented; when there are too many, the last of them and the names of the failed tests before."""
    before = lines[:-SHOWN_LINES]
    for line in before:
        if LIT_LINE.match(line) or line.startswith("not ok"):
            say("    " + line)
    if before:
        say("    ...")
    for line in lines[-SHOWN_LINES:]:
        say("    " + line)


def show_build(output):
    """What a build said, without ninja's progress lines."""
    show([line for line in output.splitlines() if not re.match(r"^\[\d+/\d+\] ", line)])


def failures_of(output):
    """The part of a test's output that tells what failed: `not ok` lines with the comments after them, lit's reports
    of failed tests, which begin with `FAIL:`. All of it when nothing is marked, as after a crash."""
    told, inside = [], None
    for line in output.splitlines():
        if LIT_LINE.match(line) and not line.startswith(LIT_PASSED + ("UNSUPPORTED",)):
            told.append(line)
        elif line.startswith("not ok"):
            inside = "tap"
        elif re.match(r"\*+ TEST .* FAILED \*+$", line):
            inside = "lit"
        elif (inside == "tap" and not line.startswith("#")) or (inside == "lit" and re.match(r"\*+$", line)):
            inside = None
        if inside:
            told.append(line)
    return told or output.splitlines()


def run_step(what, command, environment=None):
    """One counted step of a build. Its output shows when it fails."""
    began = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    say(f"{what}: {'ok' if done.returncode == 0 else 'FAILED'} ({time.monotonic() - began:.0f} s)")
    if done.returncode != 0:
        show_build(done.stdout)
    return done.returncode == 0


def make(build, tally):
    """Configures and builds; without warnings, since warnings are errors here."""
    environment = {**os.environ, "CC": build.compiler}
    configure = ["cmake", "-G", "Ninja", "-S", ".", "-B", str(build.directory), "-DSLUICE_WERROR=ON",
                 *build.settings]
    if not run_step(f"configure {build.name}", configure, environment):
        tally.failed += 1
        return False
    # Ninja goes on after a failure, so that one run shows all of them.
    built = run_step(f"build {build.name} without warnings",
                     ["cmake", "--build", str(build.directory), "--target", build.target, "--", "-k", "0"])
    tally.passed += built
    tally.failed += not built
    return built


def count_checks(output):
    """What the output of one test says: numbers of passed and failed checks, and the skipped ones."""
    tally = Tally()
    for line in output.splitlines():
        tap, lit = TAP_LINE.match(line), LIT_LINE.match(line)
        if tap and "# SKIP" in tap[2].upper():
            name, _, reason = tap[2].partition("#")
            tally.skipped.append(f"{name.strip(' -')}: {reason.strip()[len('SKIP'):].strip()}")
        elif lit and lit[1] == "UNSUPPORTED":
            tally.skipped.append(f"{lit[2]}: not supported here")
        elif tap or lit:
            passed = tap[1] == "ok" if tap else lit[1] in LIT_PASSED
            tally.passed += passed
            tally.failed += not passed
    return tally


def judge(label, case):
    """Counts one test of ctest's report, and shows what went wrong."""
    output = case.findtext("system-out") or ""
    status = case.get("status")
    tally = count_checks(output)
    if status in ("notrun", "disabled") or case.find("skipped") is not None:
        reason = output.strip().splitlines()[-1:] or ["ctest did not run it"]
        if case.find("failure") is None and status != "fail":
            tally.skipped.append(f"{label}: {reason[0]}")
            return tally
    if status != "run" and tally.failed == 0:
        tally.failed += 1
    elif tally.passed + tally.failed == 0 and not tally.skipped:
        tally.passed += 1
    if tally.failed:
        say(f"\n{label}: {tally.failed} failed")
        show(failures_of(output))
    return tally


def run_ctest(build, tally, jobs, arguments):
    """Runs the build's tests and adds up their checks."""
    report = build.directory / "report.xml"
    report.unlink(missing_ok=True)
    command = ["ctest", "--test-dir", str(build.directory), "-j", str(jobs), "-R", build.tests,
               "--test-output-size-passed", "4000000", "--test-output-size-failed", "4000000",
               "--no-tests=error", "--output-junit", str(report), *arguments]
    say(f"\ntests of {build.name}")
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    here = Tally()
    if not report.exists():
        say(f"ctest made no report (exit {code})")
        here.failed += 1
    else:
        text = NOT_IN_XML.sub("?", report.read_text(encoding="utf-8", errors="replace"))
        for case in xml.etree.ElementTree.fromstring(text).iter("testcase"):
            here.add(judge(f"{build.name}: {case.get('name')}", case))
        if code != 0 and here.failed == 0:
            say(f"ctest failed (exit {code}) though its report names no failed test")
            here.failed += 1
    say(f"{build.name}: {here.passed} passed, {here.failed} failed, {len(here.skipped)} skipped")
    tally.add(here)


def builds_of(directory, long):
    clang = Build("clang", directory / "clang", "clang", ["-DSLUICE_TESTS=ON"], tests="^unit")
    asan = Build("asan", directory / "asan", "clang", ["-DSLUICE_TESTS=ON", "-DSLUICE_SANITIZE=address"])
    tsan = Build("tsan", directory / "tsan", "clang", ["-DSLUICE_TESTS=ON", "-DSLUICE_SANITIZE=thread"],
                 tests="^unit.threads$", target="test_threads")
    gcc = Build("gcc", directory, os.environ.get("CC", "gcc"),
                ["-DSLUICE_TESTS=ON", f"-DSLUICE_COMPARE_WITH={clang.directory}/sluice"])
    if not long:
        return [clang, asan, tsan, gcc]
    fuzz = Build("fuzz", directory / "fuzz", "clang", ["-DSLUICE_FUZZ=ON"])
    for build in (gcc, fuzz):
        build.tests = "^long"
    return [gcc, fuzz]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build", help="build directory (build)")
    parser.add_argument("--long", action="store_true", help="long campaigns instead of the usual tests")
    options = parser.parse_args()
    began = time.monotonic()
    jobs = len(os.sched_getaffinity(0))
    tally = Tally()
    builds = builds_of((ROOT / options.build).resolve(), options.long)
    ready = [build for build in builds if make(build, tally)]
    for build in ready:
        run_ctest(build, tally, jobs, ["-C", "Long"] if options.long else [])
    if tally.skipped:
        say(f"\n{len(tally.skipped)} skipped:")
        for reason in tally.skipped:
            say(f"  {reason}")
    say(f"\n{time.monotonic() - began:.0f} s in all")
    say(f"{tally.passed} passed, {tally.failed} failed")
    sys.exit(0 if tally.failed == 0 and tally.passed > 0 else 1)


main()
