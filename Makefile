# The verbs people type. Each calls the program; nothing is decided here.

CARGO ?= cargo
CACHE ?= $(or $(KUBEWRIGHT_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/kubewright)
KUBEWRIGHT = $(CARGO) run --quiet --package kubewright-cli --bin kubewright --
MUSL = $(shell uname -m)-unknown-linux-musl
DENY_VERSION = 0.20.2
DENY = $(CACHE)/tools/cargo-deny-$(DENY_VERSION)
FUZZ_VERSION = 0.13.2
FUZZ = $(CACHE)/tools/cargo-fuzz-$(FUZZ_VERSION)
FUZZ_SECONDS ?= 60

.DEFAULT_GOAL := help
.PHONY: help cluster cluster-down test ci fmt lint docs licenses cycles fuzz dist-example

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

cycles: ## Start and end environments, also by kill -9, and fail if anything is left behind
	$(CARGO) run --package kubewright-bench --bin cycles -- $(or $(CYCLES),--control-plane 3 --nodes 1 --kill 4)

fuzz: $(FUZZ) ## What a memcached server could send, thought up by libFuzzer for FUZZ_SECONDS; needs a nightly compiler
	@mkdir -p fuzz/corpus/response
	PATH="$(FUZZ)/bin:$$PATH" $(CARGO) +nightly fuzz run response fuzz/corpus/response fuzz/seeds/response -- -max_len=20000 -max_total_time=$(FUZZ_SECONDS)

dist-example: ## The example operator as it would ship: static, small
	CC_$(subst -,_,$(MUSL))=$(or $(shell command -v musl-gcc),$(CC)) $(CARGO) build --profile dist --target $(MUSL) --package kubewright --example guestbook

fmt: ## Formatting, checked
	$(CARGO) fmt --all --check

lint: ## Clippy, warnings are errors
	$(CARGO) clippy --workspace --all-targets -- -D warnings

docs: ## Rustdoc without warnings, and no dead path in ARCHITECTURE.md
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --document-private-items
	@for path in $$(grep -oE '`[A-Za-z.][^` ]*[./][^` ]*`' ARCHITECTURE.md | tr -d '`' | grep -v '#'); do \
		test -e "$$path" || { echo "ARCHITECTURE.md names $$path, which is not there"; exit 1; }; done

licenses: $(DENY) ## Licences, bans and sources of all dependencies
	$(DENY)/bin/cargo-deny --all-features check licenses bans sources

$(DENY):
	$(CARGO) install --quiet --locked --root $@.partial cargo-deny@$(DENY_VERSION)
	mv $@.partial $@

$(FUZZ):
	$(CARGO) install --quiet --locked --root $@.partial cargo-fuzz@$(FUZZ_VERSION)
	mv $@.partial $@

ci: fmt lint docs licenses test cycles ## What CI runs
