# The short commands; CMake and Ninja do the work. tools/install-deps.sh installs what is missing (Debian, Ubuntu).
#
#   make demo        build the tool and show a kernel being synchronized
#   make test        everything that is checked before a change is taken, in minutes
#   make test-long   long campaigns: property tests and fuzzing, in tens of minutes
#   make bench       speed and size measurements
#   make install     PREFIX=/usr/local, DESTDIR=
#   make format      clang-format over all sources
#   make clean       removes build/

PREFIX ?= /usr/local
DESTDIR ?=
BUILD ?= build
CMAKE_FLAGS ?=
# The tests expect gcc and clang builds side by side, so the plain build is gcc's unless CC is set.
ifeq ($(origin CC),default)
  CC := gcc
endif
export CC

.DEFAULT_GOAL := all
.PHONY: all demo test test-long bench install format clean

all:
	@tools/install-deps.sh build
	@cmake -G Ninja -S . -B $(BUILD) $(CMAKE_FLAGS) > /dev/null
	@cmake --build $(BUILD) --target sluice

demo: all
	@tools/demo.sh $(BUILD)/sluice

test:
	@tools/install-deps.sh build test
	@python3 tools/run-tests.py --build $(BUILD)

test-long:
	@tools/install-deps.sh build test
	@python3 tools/run-tests.py --build $(BUILD) --long

bench: all
	@bench/scale.sh $(BUILD)/sluice

install:
	@tools/install-deps.sh build
	@cmake -G Ninja -S . -B $(BUILD) $(CMAKE_FLAGS) -DCMAKE_INSTALL_PREFIX=$(PREFIX) > /dev/null
	@cmake --build $(BUILD)
	@DESTDIR=$(DESTDIR) cmake --install $(BUILD)

format:
	@tools/install-deps.sh format
	@git ls-files '*.c' '*.h' | xargs clang-format -i

clean:
	rm -rf $(BUILD)
