# The usual door: `make` lists the verbs. Each one brings what it needs (tools/setup) and may be the first one run; build,
# demo and install bring no test tool.
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
SOURCES = $(shell find src python fuzz bench -name '*.cc' -o -name '*.h')

help:
	@echo 'build       the program: build/release/spotter'
	@echo 'demo        analyse traces that come with the sources; trace a job, and tell when it becomes slow, where there is PyTorch'
	@echo 'test        everything that must hold: lint, two compilers, unit, golden and end-to-end tests, sanitizers'
	@echo 'web         the page of web/, which is committed as built: web/dist'
	@echo 'browser     all tests of the page in a browser; `make test` runs a short form'
	@echo 'mcp         all tests of the MCP server with real clients; `make test` runs a short form'
	@echo 'e2e         all end-to-end tests; `make test` runs a short form'
	@echo 'conformance all comparisons with other readers and with definitions; `make test` runs a short form'
	@echo 'lint        folder dependencies and formatting alone'
	@echo 'fmt         format the C++ sources'
	@echo 'fuzz        each fuzz target for FUZZ_SECONDS=$(FUZZ_SECONDS)'
	@echo 'bench       the benchmarks'
	@echo 'install     to PREFIX=$(PREFIX)'
	@echo 'clean       remove build/'

setup:
	@tools/setup

setup-test:
	@tools/setup test

build: setup
	@cmake --preset release
	cmake --build --preset release --target spotter

demo: build
	tools/demo

test: setup-test
	@tools/test

web: setup
	tools/page check
	tools/page build

browser: setup-test build
	tools/page packages
	"$$(tools/browser)" -m pytest -q -p no:cacheprovider -n 2 --dist loadfile -m 'not measure' tests/browser
	"$$(tools/browser)" -m pytest -q -p no:cacheprovider -m measure tests/browser

conformance: setup-test build
	SPOTTER_TORCH_PYTHON="$$(tools/torch)" pytest-3 -q -p no:cacheprovider -n 4 --dist loadfile tests/conformance

e2e: setup-test build
	SPOTTER_TORCH_PYTHON="$$(tools/torch)" pytest-3 -q -p no:cacheprovider --tx "2*popen//python=tools/alone" --dist loadfile tests/e2e

mcp: setup-test build
	"$$(tools/mcp_python)" -m pytest -q -p no:cacheprovider -n 2 --dist loadfile tests/mcp

lint: setup-test
	tools/check_layers
	tools/check_includes
	@clang-format-19 --dry-run -Werror $(SOURCES)

fmt: setup-test
	@clang-format-19 -i $(SOURCES)

fuzz: setup-test
	@cmake --preset fuzz
	cmake --build --preset fuzz
	tools/fuzz $(FUZZ_SECONDS)

bench: setup-test build
	cmake --build --preset release --target benches
	bench/run

install: build
	cmake --install build/release --prefix $(PREFIX)

clean:
	rm -rf build

.NOTPARALLEL:
.PHONY: help setup setup-test build demo test web browser e2e conformance mcp lint fmt fuzz bench install clean
