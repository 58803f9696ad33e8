# The verbs people type. Each calls the program; nothing is decided here.

CARGO ?= cargo
CACHE ?= $(or $(KUBEWRIGHT_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/kubewright)
KUBEWRIGHT = $(CARGO) run --quiet --package kubewright-cli --bin kubewright --
OPERATOR = $(CARGO) run --quiet --package memcached-operator --
TOUR = $(CARGO) run --quiet --package memcached-e2e --bin tour --
FAULT_RUNS = $(CARGO) run --quiet --package memcached-faults --bin faults --
COMPARE = $(CARGO) run --release --package kubewright-bench --bin compare --
MUSL = $(shell uname -m)-unknown-linux-musl
# What C there is needs no libc, so the usual compiler does where there is none for musl.
STATIC = CC_$(subst -,_,$(MUSL))=$(or $(shell command -v musl-gcc),$(CC)) $(CARGO) build --profile dist --target $(MUSL)
DENY_VERSION = 0.20.2
DENY = $(CACHE)/tools/cargo-deny-$(DENY_VERSION)
FUZZ_VERSION = 0.13.2
FUZZ = $(CACHE)/tools/cargo-fuzz-$(FUZZ_VERSION)
FUZZ_SECONDS ?= 60

# As Kubebuilder and Operator SDK have them.
VERSION ?= 0.0.1
IMAGE_TAG_BASE ?= $(shell sed -nE 's/^image = "(.*)"/\1/p' kubewright.toml)
IMG ?= $(IMAGE_TAG_BASE):v$(VERSION)
BUNDLE_IMG ?= $(IMAGE_TAG_BASE)-bundle:v$(VERSION)
CHANNELS ?= alpha
# MIN_SIZE and MAX_SIZE tighten what is installed, not what is committed.
BOUNDS = $(if $(MIN_SIZE)$(MAX_SIZE),--bounds spec.size=$(MIN_SIZE)..$(MAX_SIZE))
PLACE = $(if $(NAMESPACE),--namespace $(NAMESPACE)) $(if $(SCOPE),--scope $(SCOPE))
BUNDLE = --output bundle --image $(IMG) --version $(VERSION) --channels $(CHANNELS) $(if $(DEFAULT_CHANNEL),--default-channel $(DEFAULT_CHANNEL))
# `make dev` is about a local Kubernetes; with CLUSTER=current, about the one of the current kubeconfig.
ifneq ($(CLUSTER),current)
LOCAL = KUBECONFIG="$$($(KUBEWRIGHT) dev kubeconfig)"
endif

.DEFAULT_GOAL := help
.PHONY: help generate manifests generated install uninstall run build docker-build docker-push deploy undeploy \
	bundle bundle-build bundle-push dev dev-up dev-down cluster cluster-down test test-long test-olm bench bench-full ci fmt lint docs licenses \
	cycles faults faults-long soak fuzz dist-example kubewright

help: ## What can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 16

generate: manifests ## Write everything that is generated: definitions, roles, manifests, chart, dashboard, reference

manifests: ## The same
	$(OPERATOR) generate all

generated: ## Fail if a committed file is not what would be generated
	$(OPERATOR) generate all --check
	$(OPERATOR) generate bundle $(BUNDLE) --check
	@$(KUBEWRIGHT) bundle validate

install: ## The kinds on the cluster of the current kubeconfig (MIN_SIZE, MAX_SIZE)
	@$(OPERATOR) install $(BOUNDS)

uninstall: ## The kinds and all their objects off that cluster
	@$(OPERATOR) uninstall

run: ## The operator on this machine against that cluster (ARGS)
	@$(OPERATOR) run $(ARGS)

build: ## The operator's program; with IMG its image too
	$(CARGO) build --release --package memcached-operator
	$(if $(filter file,$(origin IMG)),,@$(KUBEWRIGHT) image build --image $(IMG))

docker-build: ## The operator's image (IMG); no Docker needed
	@$(KUBEWRIGHT) image build --image $(IMG)

docker-push: ## Push it (IMG)
	@$(KUBEWRIGHT) image push $(IMG)

deploy: ## The operator in the cluster (IMG, NAMESPACE, SCOPE, MIN_SIZE, MAX_SIZE)
	@$(KUBEWRIGHT) deploy --image $(IMG) $(PLACE) $(BOUNDS)

undeploy: ## The operator out of it, with the kinds and all their objects (KEEP_CRD=1 leaves those)
	@$(KUBEWRIGHT) undeploy $(PLACE) $(if $(KEEP_CRD),--keep-crd)

bundle: ## The OLM bundle (VERSION, IMG, CHANNELS, DEFAULT_CHANNEL), checked
	@$(KUBEWRIGHT) bundle $(BUNDLE)

bundle-build: ## The bundle's image (BUNDLE_IMG)
	@$(KUBEWRIGHT) bundle build --image $(BUNDLE_IMG)

bundle-push: ## Push it (BUNDLE_IMG)
	@$(KUBEWRIGHT) bundle push $(BUNDLE_IMG)

dev: dev-up ## A local Kubernetes with the operator and a cache that serves; CLUSTER=current IMG=…: there
	@$(LOCAL) $(KUBEWRIGHT) deploy --image $(IMG)
	@$(LOCAL) $(TOUR) deploy/samples/cache_v1alpha1_memcached.yaml

ifeq ($(CLUSTER),current)
dev-up:
	@test $(origin IMG) != file || { echo "CLUSTER=current needs IMG=…, an image in a registry that the cluster reaches: make docker-build docker-push dev CLUSTER=current IMG=…" >&2; exit 1; }

dev-down: ## Remove what `make dev` made
	@$(KUBEWRIGHT) undeploy
else
dev-up:
	@$(KUBEWRIGHT) dev up
	@$(KUBEWRIGHT) image build --image $(IMG) --load

dev-down: cluster-down
endif

cluster: ## A local Kubernetes with one node, in the background
	@$(KUBEWRIGHT) dev up

cluster-down: ## End it and leave nothing
	@$(KUBEWRIGHT) dev down

test: ## All tests that this machine can run; names what it had to leave out
	@$(KUBEWRIGHT) dev check
	$(CARGO) run --quiet --package memcached-e2e --bin images
	$(CARGO) test --workspace
	@$(KUBEWRIGHT) dev check

test-long: ## The tests on real pods with all their repeats, which take an hour
	$(CARGO) run --quiet --package memcached-e2e --bin images
	KUBEWRIGHT_LONG=1 $(CARGO) test --package memcached-e2e

test-olm: ## Bundles through an OLM that really runs, on a local Kubernetes of its own; builds OLM and opm the first time
	@$(KUBEWRIGHT) dev check
	$(CARGO) test --package memcached-e2e --test olm -- --ignored --test-threads=1 --nocapture

bench: ## Ours, the same operator in Go, and the limit, side by side; laid out for under an hour (BENCH)
	$(COMPARE) --output bench/results/bench.json $(BENCH)

bench-full: ## The same with etcd that waits for the disk too, and with 10,000 objects; hours
	$(COMPARE) --output bench/results/full.json --profile no-fsync --profile durable --objects 100 --objects 1000 --objects 10000 --rest 10 $(BENCH)

cycles: ## Start and end environments, also by kill -9, and fail if anything is left behind
	$(CARGO) run --package kubewright-bench --bin cycles -- $(or $(CYCLES),--control-plane 3 --nodes 1 --kill 4)

faults: ## Every fault for every write and event of the operator, every leaf of its schema (FAULTS)
	$(FAULT_RUNS) $(FAULTS)

faults-long: ## What lasts minutes by its nature: long outages, leaders that die again and again (FAULTS)
	$(CARGO) run --quiet --package memcached-faults --bin long -- $(FAULTS)

soak: ## Changes, random faults and kills for ten minutes; memory and what broke (FAULTS)
	$(CARGO) run --quiet --package memcached-faults --bin soak -- $(FAULTS)

fuzz: $(FUZZ) ## What a memcached server could send, thought up by libFuzzer for FUZZ_SECONDS; needs a nightly compiler
	@mkdir -p fuzz/corpus/response
	PATH="$(FUZZ)/bin:$$PATH" $(CARGO) +nightly fuzz run response fuzz/corpus/response fuzz/seeds/response -- -max_len=20000 -max_total_time=$(FUZZ_SECONDS)

dist-example: ## The example operator as it would ship: static, small
	$(STATIC) --package kubewright --example guestbook

kubewright: ## The program `kubewright` itself, static: one file to put anywhere
	$(STATIC) --package kubewright-cli
	@program=$(or $(CARGO_TARGET_DIR),target)/$(MUSL)/dist/kubewright; segments=$$(readelf --program-headers --wide "$$program") && case "$$segments" in \
		*INTERP*) echo "$$program is not static: it asks for a loader" >&2; exit 1;; *LOAD*) ls -l "$$program";; esac

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

ci: fmt lint generated docs licenses test cycles ## What CI runs
