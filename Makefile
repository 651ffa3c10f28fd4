# Every target sets up what it needs: Python 3.11 or newer, make and git are enough.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= $(shell command -v python3.11 || command -v python3)
MARKS ?= not slow and not live
WORKERS ?= auto
DEMO := .demo
PIP := -m pip --disable-pip-version-check
# Of pip's hundreds of lines a few, so that one sees that it goes on: $(1) is the list, $(2) its place.
SOME = 2> >(grep -v ^WARNING >&2) | awk -v of=$$(grep -c == $(1)) '/^Collecting/ && ++n % 25 == 0 {print "    $(2): " n " of " of " packages"} \
  /^Installing/ {print "    $(2): installing them"} {fflush()}'
RUN := PATH="$(CURDIR)/.venv/bin:$$PATH"
# Named after what is pinned, not after a time: a working copy shares this environment.
READY := .venv/ready-$(shell cat requirements.lock pyproject.toml | cksum | cut -d' ' -f1)

# Label Studio's server pins what the pipeline does not want: it has an environment of its own.
LABEL_STUDIO := .venv-label-studio/ready-$(shell cksum < requirements-label-studio.lock | cut -d' ' -f1)

.PHONY: help setup demo demo-clone test campaign label-studio label-studio-environment lock \
  stop-demo clean-demo

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
	@.venv/bin/python $(PIP) install -r requirements.lock $(call SOME,requirements.lock,.venv)
	@.venv/bin/python $(PIP) install -qq --no-deps --no-build-isolation -e .
	@rm -f .venv/ready-* && touch $@

demo: ## Run everything on the sample corpus, people and all, in a clone of its own: .demo/
	@$(MAKE) --silent --no-print-directory --jobs=2 setup label-studio-environment
	@$(MAKE) --no-print-directory demo-clone
	@echo "==> $(DEMO)/: a clone of the last commit; your checkout and its campaign stay untouched"
	@git diff --quiet HEAD || echo "    (what you have not committed is not in it)"
	@cd $(DEMO) && $(RUN) python -m annotation.rehearsal --name Demo
	@echo "  stop its server make stop-demo (make demo starts it again)"
	@echo "  take it away    make clean-demo"

# A sample that makes about 1,000 judgments.
SMALLER := split.val=5 split.test=15 sample.videos=40 tagger.sentences=2500
MAKE_SMALLER = (cd "$(CURDIR)" && $(RUN) python -m tools.settings $(1)/params.yaml "$(SMALLER)")

$(DEMO):
	@rm -rf $(DEMO).new && git clone --quiet --no-local . $(DEMO).new
	@cd $(DEMO).new && ln -s "$(CURDIR)/.venv" "$(CURDIR)/.venv-label-studio" . \
	  && { git config user.email >/dev/null || git config user.email demo@example.org; } \
	  && { git config user.name >/dev/null || git config user.name Demo; } \
	  && printf '[core]\n    autostage = true\n' > .dvc/config.local \
	  && git switch --quiet --create demo \
	  && $(call MAKE_SMALLER,$(DEMO).new) \
	  && { git diff --quiet || git commit --quiet --all -m "A smaller sample than usual"; }
	@mv $(DEMO).new $(DEMO)

# The last commit's code, with the campaign (and the dvc.lock) that the demo has made so far.
demo-clone: $(DEMO)
	@cd $(DEMO) && { test ! -e .git/MERGE_HEAD || git reset --quiet --hard; } \
	  && git fetch --quiet "$(CURDIR)" HEAD && { git merge-base --is-ancestor FETCH_HEAD HEAD \
	  || { git add --all && { git diff --cached --quiet || git commit --quiet -m "What the demo has made"; } \
	  && git merge --quiet --strategy=ours --no-commit FETCH_HEAD && git read-tree -u --reset FETCH_HEAD \
	  && git checkout --quiet HEAD -- datasets/campaign dvc.lock \
	  && $(call MAKE_SMALLER,$(DEMO)) && git commit --quiet --all -m "The demo, by the code of the last commit"; }; }

test: $(READY) ## Check style and types, and run the tests
	@echo "==> ruff" && $(RUN) ruff check . && $(RUN) ruff format --check .
	@echo "==> mypy --strict" && $(RUN) mypy
	@echo "==> pytest -m '$(MARKS)'" && $(RUN) python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m "$(MARKS)"

# As they were typed: make would take a dollar sign for a variable of its own.
override DIR := $(value DIR)
override PARAMS := $(value PARAMS)
override SET := $(value SET)
export DIR PARAMS SET

campaign: $(READY) ## Make a working copy for a real campaign: DIR=path [PARAMS=file] [SET="key=value ..."]
	@$(RUN) python -m tools.campaign "$$DIR" --params="$$PARAMS" --set="$$SET"

label-studio: $(READY) $(LABEL_STUDIO) ## Start a Label Studio of your own on this machine
	@$(RUN) python -m annotation.server start

label-studio-environment: $(LABEL_STUDIO)

$(LABEL_STUDIO):
	@test ! -L .venv-label-studio || { echo ".venv-label-studio is shared with another checkout, and what"; \
	  echo "this one pins differs: remove the link, then make label-studio-environment makes its own"; exit 1; }
	@echo "==> setting up .venv-label-studio: once, two minutes"
	@$(PYTHON) -m venv .venv-label-studio
	@.venv-label-studio/bin/python $(PIP) install -r requirements-label-studio.lock \
	  $(call SOME,requirements-label-studio.lock,.venv-label-studio)
	@rm -f .venv-label-studio/ready-* .venv-label-studio/empty.sqlite3 && touch $@

lock: $(READY) ## Pin the newest dependencies that fit pyproject.toml (with Python 3.11)
	@$(RUN) pip-compile --quiet --upgrade --all-extras --strip-extras --allow-unsafe --no-annotate \
	  --no-header --no-emit-index-url --no-emit-find-links --output-file requirements.lock pyproject.toml
	@sed -i.bak 's/+cpu$$//' requirements.lock && rm requirements.lock.bak

# What ends the demo takes the environment as it is: a change of the pins must not stop it.
IN_DEMO = test ! -d $(DEMO) || { test -x .venv/bin/python || $(MAKE) --no-print-directory setup; \
  cd $(DEMO) && $(RUN) python -m $(1); }

stop-demo: ## Stop the demo's server; what the demo has made stays
	@$(call IN_DEMO,annotation.server stop)

clean-demo: ## Take the demo away, its server too; refuses where people have judged
	@$(call IN_DEMO,annotation.rehearsal --clear)
	@rm -rf $(DEMO) $(DEMO).new
