"""Counting of single checks: one `ok` or `not ok` line each, exit status from the whole."""

import subprocess
import sys


class Tap:
    def __init__(self):
        self.checks = 0
        self.failures = 0

    def check(self, passed, name, why=""):
        """Records one check; `why` explains a failure."""
        self.checks += 1
        self.failures += not passed
        print(f"{'ok' if passed else 'not ok'} - {name}")
        if not passed and why:
            for line in str(why).strip().splitlines():
                print(f"#   {line}")
        return passed

    def run(self, name, command, **options):
        """Records whether a command succeeds; returns the finished process."""
        done = subprocess.run(command, capture_output=True, text=True, **options)
        self.check(done.returncode == 0, name, f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def skip(self, name, reason):
        print(f"ok - {name} # SKIP {reason}")

    def finish(self):
        """A script that checked nothing has not passed."""
        if self.checks == 0:
            print("not ok - nothing was checked")
        sys.exit(0 if self.checks and not self.failures else 1)
