# Every target sets up what it needs: only Python 3.11 or newer, make and git are required.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# The system's Python where it is complete (Debian's may lack venv), else the first on the path.
SYSTEM := /usr/bin/python3.11
PYTHON ?= $(shell $(SYSTEM) -c "import ensurepip" 2>/dev/null && echo $(SYSTEM) || \
  command -v python3.11 || command -v python3)
# Some thousand processes import the same files: let Python keep the compiled ones.
unexport PYTHONDONTWRITEBYTECODE
MARKS ?= not slow and not live
WORKERS ?= auto
RUN := PATH="$(CURDIR)/.venv/bin:$$PATH"
# Named after the pins, not a time: working copies share this environment.
READY := .venv/ready-$(shell cat requirements.lock pyproject.toml | cksum | cut -d' ' -f1)

TESTS := .venv/tests-$(shell cksum < requirements-tests.lock | cut -d' ' -f1)

# Label Studio's pins conflict with the pipeline's, so it has its own environment.
LABEL_STUDIO := .venv-label-studio/ready-$(shell cksum < requirements-label-studio.lock | cut -d' ' -f1)

.PHONY: help setup engines demo demo-clone baselines docs test test-environment campaign label-studio \
  label-studio-environment lock release pictures stop-demo clean-demo

help: ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

setup: $(READY) ## Make the environment .venv from requirements.lock

$(READY):
	@tools/environment.sh $(PYTHON) .venv requirements.lock
	@.venv/bin/python -m pip --disable-pip-version-check install -qq --no-deps --no-build-isolation -e .
	@rm -f .venv/ready-* && touch $@

engines: .venv/engines-$(shell cksum < requirements-engines.lock | cut -d' ' -f1) ## Install Ray and submitit, to run stages on several machines

.venv/engines-%: $(READY)
	@.venv/bin/python -m tools.install requirements-engines.lock
	@rm -f .venv/engines-* && touch $@

demo: ## Run everything on the sample corpus, with simulated people, in its own clone, .demo/
	@$(MAKE) --silent --no-print-directory --jobs=2 setup label-studio-environment
	@$(MAKE) --no-print-directory demo-clone
	@cd .demo && $(RUN) python -m annotation.rehearsal --name Demo
	@$(RUN) python -m benchmarks.pooled_scores .demo
	@echo && cd .demo && $(RUN) momentrank evaluate datasets/release/qrels/test.qrels \
	  datasets/work/runs/captions.test.run 'nDCG(iou=0.5)@20' 'nDCG(iou=0.5,silence=True)@20' \
	  NullAcc --by stratum --no-judged
	@echo "  stop its server make stop-demo (make demo starts it again)"
	@echo "  delete it       make clean-demo"

demo-clone:
	@$(RUN) python -m tools.demo "$(SMALLER)"

baselines: $(READY) ## Train the baselines on the demo's release and print their table (after `make demo`)
	@test -f .demo/datasets/release/train_top20.json || { echo "run make demo first: the baselines are trained on its release"; exit 2; }
	@cd .demo && $(RUN) dvc repro baselines/dvc.yaml && cat datasets/work/baselines/table.md

docs: .venv/docs-$(shell cksum < requirements-docs.lock | cut -d' ' -f1) ## Make the documentation's site, with search, offline: build/docs/index.html
	@rm -rf build/docs
	@$(RUN) python -m sphinx -qEW --keep-going -c docs -d build/doctrees . build/docs
	@echo "==> build/docs/index.html"

.venv/docs-%: $(READY)
	@.venv/bin/python -m tools.install requirements-docs.lock
	@rm -f .venv/docs-* && touch $@

pictures: $(TESTS) $(LABEL_STUDIO) ## Take the docs' pictures and sample release from the demo (after `make demo`; needs chromium)
	@$(RUN) PYTHONPATH=tests python -m support.pictures

stop-demo: ## Stop the demo's server, but keep the demo
	@tools/in_demo.sh annotation.server stop

clean-demo: ## Delete the demo and its server; refuses if people have judged
	@tools/in_demo.sh annotation.rehearsal --clear
	@rm -rf .demo .demo.new

test-environment: $(TESTS) ## Install what tests, benchmarks, `make lock` and `make release` need beside it

$(TESTS): $(READY)
	@.venv/bin/python -m tools.install requirements-tests.lock
	@rm -f .venv/tests-* && touch $@

test: $(TESTS) ## Check style and types, and run the tests
	@echo "==> ruff" && $(RUN) ruff check . && $(RUN) ruff format --check .
	@echo "==> mypy --strict" && $(RUN) mypy
	@echo "==> pytest -m '$(MARKS)'"
	@$(RUN) python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m "$(MARKS)"

# Passed on as typed: make would expand a dollar sign.
override DIR := $(value DIR)
override PARAMS := $(value PARAMS)
override SET := $(value SET)
override DATABASE := $(value DATABASE)
export DIR PARAMS SET DATABASE

campaign: $(READY) ## Make a working copy for a real campaign: DIR=path [PARAMS=file] [SET="key=value ..."]
	@$(RUN) python -m tools.campaign "$$DIR" --params="$$PARAMS" --set="$$SET"

label-studio: $(READY) $(LABEL_STUDIO) ## Start a Label Studio of your own [DATABASE=postgresql://...] [WORKERS=n]
	@$(RUN) $(if $(DATABASE),LABEL_STUDIO_DATABASE="$$DATABASE") python -m annotation.server start \
	  $(if $(filter-out auto,$(WORKERS)),--workers "$(WORKERS)")

label-studio-environment: $(LABEL_STUDIO)

$(LABEL_STUDIO):
	@tools/environment.sh $(PYTHON) .venv-label-studio requirements-label-studio.lock
	@rm -f .venv-label-studio/ready-* .venv-label-studio/empty.sqlite3 && touch $@

COMPILE := pip-compile --quiet --upgrade --strip-extras --allow-unsafe --no-annotate --no-header \
  --no-emit-index-url --no-emit-find-links --output-file

lock: $(TESTS) ## Pin the newest dependencies that fit pyproject.toml and requirements*.in (Python 3.11)
	@$(RUN) $(COMPILE) requirements.lock --all-extras pyproject.toml requirements.in
	@sed -i.bak 's/+cpu$$//' requirements.lock && rm requirements.lock.bak
	@$(RUN) $(COMPILE) requirements-docs.lock requirements-docs.in
	@sed -i.bak "$$(sed 's|.*|/^&$$/d|' requirements.lock)" requirements-docs.lock && rm requirements-docs.lock.bak
	@$(RUN) $(COMPILE) requirements-tests.lock requirements-tests.in
	@sed -i.bak "$$(sed 's|.*|/^&$$/d|' requirements.lock)" requirements-tests.lock && rm requirements-tests.lock.bak

release: $(TESTS) ## Build the scorer's packages into dist/ and check them; say how to publish them
	@$(RUN) python -m tools.release
