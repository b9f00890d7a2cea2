# Configuration of the text tests: one file with its command (RUN) and its expectation (CHECK) inside.
#
#   %sluice      the tool            %FileCheck   LLVM's FileCheck
#   %exit1 CMD   CMD must exit with 1 (also %exit2, %exit3); by itself a command must exit with 0
#   %s %S %t     the test file, its directory, a scratch file name
#
# RUN lines run in bash with pipefail. Directories named Inputs hold files for tests, not tests.
import os

import lit.formats

config.name = "sluice"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".slu", ".test", ".target"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = lit_config.params["exec_root"]

expect_exit = os.path.join(os.path.dirname(__file__), "expect-exit.sh")
for code in ("1", "2", "3"):
    config.substitutions.append(("%exit" + code, f"{expect_exit} {code}"))
config.substitutions.append(("%sluice", lit_config.params["sluice"]))
config.substitutions.append(("%FileCheck", lit_config.params["filecheck"]))

# Messages must not depend on the user's language or terminal; sanitizers stop at the first finding.
config.environment["LC_ALL"] = "C"
config.environment["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "detect_leaks=1")
config.environment["UBSAN_OPTIONS"] = os.environ.get("UBSAN_OPTIONS", "print_stacktrace=1")
