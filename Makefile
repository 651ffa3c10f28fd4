# Every target sets up what it needs: Python 3.11 or newer, make and git are enough.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= $(shell command -v python3.11 || command -v python3)
MARKS ?= not slow and not live
DEMO := .demo
PIP := .venv/bin/python -m pip --disable-pip-version-check -qq
RUN := PATH="$(CURDIR)/.venv/bin:$$PATH"
# Named after what is pinned, not after a time: a working copy shares this environment.
READY := .venv/ready-$(shell cat requirements.lock pyproject.toml | cksum | cut -d' ' -f1)

# Label Studio's server pins what the pipeline does not want: it has an environment of its own.
LABEL_STUDIO := .venv-label-studio/ready-$(shell cksum < requirements-label-studio.lock | cut -d' ' -f1)

.PHONY: help setup demo test campaign label-studio label-studio-environment lock clean-demo

help: ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(READY) ## Make the environment .venv from requirements.lock

$(READY):
	@test ! -L .venv || { echo ".venv is shared with another checkout, and what this one pins differs:"; \
	  echo "remove the link .venv, then make setup gives this one its own"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11"; exit 1; }
	@echo "==> setting up .venv with $$($(PYTHON) --version): once, a few minutes and some GB"
	@$(PYTHON) -m venv .venv
	@$(PIP) install -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@rm -f .venv/ready-* && touch $@

demo: $(READY) ## Run the pipeline on the sample corpus, in a clone of its own under .demo/
	@echo "==> $(DEMO)/: a clone of the last commit; your checkout and its campaign stay untouched"
	@test -d $(DEMO)/.git || git clone --quiet --no-local . $(DEMO)
	@# The clone keeps its own dvc.lock: what this machine made, so that nothing is made twice.
	@cd $(DEMO) && cp dvc.lock .git/dvc.lock && git fetch --quiet "$(CURDIR)" HEAD \
	  && git reset --quiet --hard FETCH_HEAD && cp .git/dvc.lock dvc.lock
	@git diff --quiet HEAD || echo "    (what you have not committed is not in it)"
	@echo "==> dvc repro"
	@cd $(DEMO) && $(RUN) dvc repro
	@echo "==> the results lie in $(DEMO)/datasets/ (look at more: cd $(DEMO), python -m pipeline.show --help)"
	@cd $(DEMO) && $(RUN) python -m pipeline.show

test: $(READY) ## Check style and types, and run the tests
	@echo "==> ruff" && $(RUN) ruff check . && $(RUN) ruff format --check .
	@echo "==> mypy --strict" && $(RUN) mypy
	@echo "==> pytest -m '$(MARKS)'" && $(RUN) python -m pytest -n auto --dist loadfile --no-loadscope-reorder -m "$(MARKS)"

campaign: $(READY) ## Make a working copy for a real campaign: DIR=path [PARAMS=params.paper.yaml]
	@test -n "$(DIR)" || { echo "say where: make campaign DIR=path [PARAMS=params.paper.yaml]"; exit 2; }
	@test ! -e "$(DIR)" || { echo "$(DIR) is there already: a campaign is never overwritten"; exit 2; }
	@test -z "$(PARAMS)" || test -f "$(PARAMS)" || { echo "$(PARAMS): no such file"; exit 2; }
	@git clone --quiet --no-local --origin momentrank . "$(DIR)"
	@git -C "$(DIR)" switch --quiet --create campaign
	@for each in .venv .venv-label-studio; do \
	  if [ -e $$each ]; then ln -s "$(CURDIR)/$$each" "$(DIR)/$$each"; fi; done
	@if [ -n "$(PARAMS)" ]; then cp "$(PARAMS)" "$(DIR)/params.yaml"; fi
	@echo "==> $(DIR) is ready, on a branch of its own. Next:"
	@echo "    cd '$(DIR)' && . .venv/bin/activate"
	@echo "    edit params.yaml (ingest.corpus, ingest.source), then: dvc repro"

label-studio: $(READY) $(LABEL_STUDIO) ## Start a Label Studio of your own on this machine
	@$(RUN) python -m annotation.server start

label-studio-environment: $(LABEL_STUDIO)

$(LABEL_STUDIO):
	@echo "==> setting up .venv-label-studio: once, two minutes"
	@$(PYTHON) -m venv .venv-label-studio
	@.venv-label-studio/bin/python -m pip --disable-pip-version-check -qq install \
	  -r requirements-label-studio.lock
	@rm -f .venv-label-studio/ready-* && touch $@

lock: $(READY) ## Pin the newest dependencies that fit pyproject.toml (with Python 3.11)
	@$(RUN) pip-compile --quiet --upgrade --all-extras --strip-extras --allow-unsafe --no-annotate \
	  --no-header --no-emit-index-url --no-emit-find-links --output-file requirements.lock pyproject.toml
	@sed -i.bak 's/+cpu$$//' requirements.lock && rm requirements.lock.bak

clean-demo: ## Take the demo away
	@rm -rf $(DEMO)
