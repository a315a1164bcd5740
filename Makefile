# SPDX-License-Identifier: Apache-2.0
# The front door. Each target does all its own set-up; the work is in scripts/, tools/ and the CMake presets.
PREFIX ?= /usr/local
# `make bench BENCH=handoff` runs one benchmark; JSON=1 prints nothing but its figures.
BENCH ?=
JSON ?=
# How long `make fuzz` gives each fuzz target, and how many rounds of killing processes it runs.
FUZZ_SECONDS ?= 600
CHAOS_ROUNDS ?= 3000

MAKEFLAGS += --no-print-directory
.NOTPARALLEL:
.DEFAULT_GOAL := help
.PHONY: help demo test bench check format fuzz build install uninstall clean

step := scripts/step
jobs := $(shell nproc)
configure_release = $(step) "configure" configure-release cmake --preset release $(if $(wildcard build/release/CMakeCache.txt),,-DWARPOOL_TESTS=OFF)

help: ## Says what there is
	@echo "Warpool $$(cat VERSION)"
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' Makefile | expand -t 18

demo: ## Runs three programs on real data and draws what they did (first time: minutes)
	@[ -x build/release/bin/warpool ] || echo "The first time takes up to 8 minutes on 2 cores: packages, then the build, then the demo."
	@scripts/bootstrap demo
	@$(MAKE) build
	@examples/digits/run

build: ## Builds the programs and the Python and Octave packages
	@scripts/bootstrap demo
	@$(configure_release)
	@$(step) "build" build-programs cmake --build build/release --target programs -j $(jobs)

test: ## Builds and runs every test suite (about 25 minutes on 2 cores)
	@scripts/bootstrap test
	@scripts/run_tests

bench: ## Runs the benchmarks, or one: BENCH=name; JSON=1 prints its figures only
	@$(if $(JSON),WARPOOL_QUIET=1 scripts/bootstrap bench >&2,scripts/bootstrap bench)
	@$(if $(JSON),WARPOOL_QUIET=1) $(configure_release)
	@$(if $(JSON),WARPOOL_QUIET=1) $(step) "build" build-bench cmake --build build/release --target programs --target bench_targets -j $(jobs)
	@bench/run $(if $(JSON),--json) $(BENCH)

check: ## Checks format, style and layers
	@scripts/bootstrap check
	@scripts/check

format: ## Formats C++ and Python sources
	@scripts/bootstrap check
	@scripts/check --fix

fuzz: ## Fuzzes and kills for long: FUZZ_SECONDS=600 a target, CHAOS_ROUNDS=3000
	@scripts/bootstrap test
	@WARPOOL_FUZZ_SECONDS=$(FUZZ_SECONDS) WARPOOL_CHAOS_ROUNDS=$(CHAOS_ROUNDS) scripts/run_fuzz_suites

install: ## Installs below PREFIX (default /usr/local); PREFIX=$HOME/.local needs no root
	@$(MAKE) build
	@scripts/install "$(PREFIX)"

uninstall: ## Removes what `make install` put below PREFIX
	@scripts/uninstall "$(PREFIX)"

clean: ## Removes what was built
	@rm -rf build out dist
