# treewright: `make parse` to try it, `make test` to check everything from nothing.
#
# PYTHON makes the environment in VENV; everything below runs inside it.

PYTHON ?= python3
VENV ?= .venv
TEXT ?= (S (NP (DT The) (NN grammar)) (VP (VBZ licenses) (NP (DT this) (NN tree))) (. .))
BENCH_OUT ?= benchmarks/results

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
# The versions that the checks were last green with belong to one Python; others take the newest.
CONSTRAINTS := $(shell $(PYTHON) -c 'import sys; print("-c constraints.txt" * (sys.version_info[:2] == (3, 11)))')
SOURCES := $(shell find src -type f -not -name '*.so' -not -name '*.pyc') CMakeLists.txt pyproject.toml README.md LICENSE

CXX_FILES := $(shell find src/kernel tests/kernel -name '*.cpp' -o -name '*.hpp')

.PHONY: help parse test check lint types imports format tests kernel-tests sanitize bench build clean

help:
	@echo "make parse [TEXT='(S ...)']  draw a tree from its brackets"
	@echo "make test                    environment, build, install, then all checks and tests"
	@echo "make check                   all checks and tests in the environment there is"
	@echo "make format                  put the code in order"
	@echo "make sanitize                the kernel under AddressSanitizer and UBSan"
	@echo "make bench                   run the benchmarks, results in $(BENCH_OUT)"
	@echo "make build                   a wheel and an sdist in dist/"

# The environment with the base package alone.
$(VENV)/.base: $(SOURCES) constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install $(CONSTRAINTS) --force-reinstall --no-deps .
	$(PIP) install $(CONSTRAINTS) .
	@touch $@

# The environment for work on treewright: the wheel itself, as users get it, and all tools.
$(VENV)/.dev: $(SOURCES) constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	rm -rf build/wheel && mkdir -p build/wheel
	$(PIP) wheel --no-deps -w build/wheel .
	$(PIP) install $(CONSTRAINTS) --force-reinstall --no-deps build/wheel/*.whl
	$(PIP) install $(CONSTRAINTS) "$$(ls build/wheel/*.whl)[dev,plot,train]"
	@touch $@ $(VENV)/.base

parse: $(VENV)/.base
	@printf '%s\n' '$(TEXT)' | $(BIN)/treewright trees show -

test: $(VENV)/.dev
	@$(MAKE) --no-print-directory check

check: lint types imports kernel-tests tests

lint:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(CXX_FILES)

types:
	$(BIN)/mypy

imports:
	$(BIN)/lint-imports --no-cache

tests:
	$(BIN)/python -m pytest

kernel-tests:
	cmake -S . -B build/kernel -DTREEWRIGHT_PYTHON=OFF -DTREEWRIGHT_KERNEL_TESTS=ON > /dev/null
	cmake --build build/kernel -j 2 > /dev/null
	ctest --test-dir build/kernel --output-on-failure -Q

sanitize:
	cmake -S . -B build/sanitize -DTREEWRIGHT_PYTHON=OFF -DTREEWRIGHT_KERNEL_TESTS=ON \
		-DTREEWRIGHT_SANITIZE=ON > /dev/null
	cmake --build build/sanitize -j 2 > /dev/null
	ctest --test-dir build/sanitize --output-on-failure

format:
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CXX_FILES)

bench: $(VENV)/.dev
	$(PIP) install $(CONSTRAINTS) "$$(ls build/wheel/*.whl)[bench]"
	mkdir -p $(BENCH_OUT)
	for script in benchmarks/bench_*.py; do \
		$(BIN)/python $$script --json $(BENCH_OUT)/$$(basename $$script .py).json || exit 1; \
	done

build: $(VENV)/.dev
	rm -rf dist
	$(BIN)/python -m build

clean:
	rm -rf build dist $(VENV)
