# The verbs people type. Each calls the program; nothing is decided here.

CARGO ?= cargo
KUBEWRIGHT = $(CARGO) run --quiet --package kubewright-cli --bin kubewright --

.DEFAULT_GOAL := help
.PHONY: help cluster cluster-down test ci fmt lint docs licenses cycles

help: ## What can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 16

cluster: ## A local Kubernetes with one node and a sample memcached, in the background
	@$(KUBEWRIGHT) dev up --sample

cluster-down: ## End it and leave nothing
	@$(KUBEWRIGHT) dev down

test: ## All tests that this machine can run; names what it had to leave out
	@$(KUBEWRIGHT) dev check
	$(CARGO) test --workspace
	@$(KUBEWRIGHT) dev check

fmt: ## Formatting, checked
	$(CARGO) fmt --all --check

lint: ## Clippy and shellcheck, warnings are errors
	$(CARGO) clippy --workspace --all-targets -- -D warnings

docs: ## Rustdoc, warnings are errors
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --document-private-items

ci: fmt lint docs test ## What CI runs
