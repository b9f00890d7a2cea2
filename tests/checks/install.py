"""What `make install` installs can be used from outside: by pkg-config, by CMake's find_package, and from the shell.

usage: install.py SOURCE_DIR BUILD_DIR SCRATCH_DIR
"""

import os
import pathlib
import shutil
import subprocess
import sys

from tap import Tap


def one(pattern_root, pattern):
    """The single file that matches; None when there is none or several."""
    found = list(pattern_root.rglob(pattern))
    return found[0] if len(found) == 1 else None


def by_pkg_config(tap, source, scratch, pc_file, environment):
    environment = {**environment, "PKG_CONFIG_PATH": str(pc_file.parent)}
    flags = tap.run("pkg-config finds sluice", ["pkg-config", "--cflags", "--libs", "sluice"], env=environment)
    program = scratch / "by_pkg_config"
    tap.run("the example compiles by pkg-config",
            ["cc", "-std=c11", "-Wall", "-Werror", str(source / "examples/build_kernel.c"), "-o", str(program),
             *flags.stdout.split()])
    version = tap.run("pkg-config knows the version", ["pkg-config", "--modversion", "sluice"], env=environment)
    return tap.run("the example runs (pkg-config)", [str(program)], env=environment).stdout, version.stdout.strip()


def by_cmake(tap, source, scratch, prefix, environment):
    build = scratch / "by_cmake"
    tap.run("find_package(Sluice) configures",
            ["cmake", "-G", "Ninja", "-S", str(source / "tests/package"), "-B", str(build),
             f"-DCMAKE_PREFIX_PATH={prefix}", f"-DEXAMPLE={source / 'examples/build_kernel.c'}"])
    tap.run("the example builds by CMake", ["cmake", "--build", str(build)])
    return tap.run("the example runs (CMake)", [str(build / "consumer")], env=environment).stdout


def main():
    source, build, scratch = (pathlib.Path(argument) for argument in sys.argv[1:4])
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    tap = Tap()
    tap.run("cmake --install", ["cmake", "--install", str(build)], env={**os.environ, "DESTDIR": str(scratch / "root")})
    tool = one(scratch / "root", "bin/sluice")
    pc_file = one(scratch / "root", "sluice.pc")
    library = one(scratch / "root", "libsluice.so")
    man_page = one(scratch / "root", "sluice.1")
    for what, found in (("tool", tool), ("sluice.pc", pc_file), ("library", library), ("man page", man_page),
                        ("completion", one(scratch / "root", "completions/sluice")),
                        ("licence", one(scratch / "root", "LICENSE"))):
        tap.check(found, f"installed: {what}")
    if tap.failures:
        tap.finish()

    environment = {**os.environ, "LD_LIBRARY_PATH": str(library.parent)}
    text, version = by_pkg_config(tap, source, scratch, pc_file, environment)
    tap.check("wait " in text and "inc " in text, "the example prints a synchronized kernel", text)
    same = by_cmake(tap, source, scratch, tool.parent.parent, environment)
    tap.check(same == text, "both examples print the same")
    said = tap.run("the installed tool runs", [str(tool), "--version"]).stdout
    tap.check(version and version in said, "tool and package have one version", f"{version!r}, {said!r}")
    tap.check(".SH" in man_page.read_text(encoding="utf-8"), "the man page is one")
    if shutil.which("man"):
        rendered = subprocess.run(["man", "-l", str(man_page)], capture_output=True, text=True, check=False)
        tap.check(rendered.returncode == 0 and "sync" in rendered.stdout, "man shows the page", rendered.stderr)
    else:
        tap.skip("man shows the page", "man is not installed")
    tap.finish()


main()
