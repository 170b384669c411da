# What a person does with this project. `make help` lists it.

CARGO ?= cargo
CC ?= cc
PREFIX ?= /usr/local
DESTDIR ?=
# Words for `stend run`, for example: make run SUITE=summit RUN_FLAGS='--scale 0.1'
SUITE ?= quick
RUN_FLAGS ?=
# How the C half of `make test` is started: it takes the processors that the lab leaves while it waits.
NICE ?= nice

TARGET = target
RELEASE = $(TARGET)/release
# As seen from the folders of the C half, not from the root: make cannot build in a folder whose path has spaces, and the project may
# lie in one.
NATIVE_BUILD = ../$(TARGET)/native/$(notdir $(firstword $(CC)))
C_FOLDERS = kuzma pipe-writer morse probe
JOBS = -j$(shell nproc 2>/dev/null || echo 1)
# Ends what hangs, with all that it started.
WATCHED = $(if $(shell command -v timeout),timeout -k 10 $$((1800 * $${PATIENCE:-1})))
# $(1): a folder of the C half, $(2): what is made there, $(3): where all is built; the libraries are in folders of the probe's.
make_in = $(MAKE) --no-print-directory -s $(JOBS) -C $(1) $(2) BUILD="$(3)$(addprefix /,$(filter-out probe,$(1)))"
in_folder = $(call make_in,$(1),$(2) CC="$(CC)",$(NATIVE_BUILD))
CARGO_FLAGS = --locked --target-dir $(TARGET)

# A check that cannot be made here is said, and under CI it fails.
left_out = { echo "$(1): $(2)" >&2; [ -z "$${CI:-}" ] || { echo "$(1): under CI nothing may be left out" >&2; exit 1; }; }

# The two halves share a build folder.
.NOTPARALLEL:

# Tests and lint go on after a failure (make -k, --no-fail-fast), and fail at the end: who tries a change learns of all
# that is wrong with it.
.PHONY: help run build programs test fuzz test-all test-browser test-mutants test-steady test-native fuzz-native test-lab test-rust schemas bench bench-hosts bench-kuzma bench-lab bench-morse bench-pipe bench-pipes bench-report bench-storage soak-pipe lint install clean toolchains packages-run packages-test packages-bench packages-cross packages-operations packages-profile

help: ## list what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: toolchains packages-run build ## measure this machine, print the table, name the report; SUITE=pipes and RUN_FLAGS='--wait 10min' change what `stend run` is given
	@# Status 3 is a finding, not a fault: some repeats did not count, and the table says which.
	@$(RELEASE)/stend run $(SUITE) $(RUN_FLAGS) || { status=$$?; [ $$status -eq 3 ] || exit $$status; }

build: programs ## build target/release/stend, target/release/stend-probe and target/release/morse
	@$(CARGO) build --release $(CARGO_FLAGS) --package stend

programs: toolchains
	@$(call in_folder,probe,all)
	@$(call in_folder,morse,program)
	@mkdir -p $(RELEASE)
	@for program in stend-probe morse/bin/morse; do \
		to=$(RELEASE)/$${program##*/}; cmp -s probe/$(NATIVE_BUILD)/$$program $$to || install -m 755 probe/$(NATIVE_BUILD)/$$program $$to || exit 1; done

# What a check of a folder depends on; where nothing of it has changed since the check passed, it is not made again.
kuzma_needs = kuzma
pipe-writer_needs = pipe-writer
morse_needs = morse pipe-writer
probe_needs = probe kuzma pipe-writer
# By what sanitizers are tried: clang, so that fuzzing takes the same builds.
SANITIZER = $(if $(shell command -v clang),clang,$(CC))
# $(1): a folder, $(2): a check there, $(3): programs that it needs besides, $(4): other words for make.
check = setup/stamped.sh "$(1) $(2)" $($(1)_needs) setup/stamped.sh $(addprefix +,$(firstword $(CC)) $(3)) -- \
	env AGREEMENT_STEP=13 $(WATCHED) $(call make_in,$(1),-k $(2) CC="$(CC)" $(4),$(NATIVE_BUILD)) || failed=1

test: packages-test programs ## set up what the tests need and run them all
	@$(NICE) $(MAKE) --no-print-directory test-native >$(TARGET)/test-native.log 2>&1 & native=$$!; failed=; \
	trap 'kill $$native; exit 130' INT TERM; \
	$(MAKE) --no-print-directory test-rust || failed=1; \
	wait $$native || failed=1; cat $(TARGET)/test-native.log; [ -z "$$failed" ]

# Of the longer lengths that backends must agree on, some; make test-all takes each.
test-native: toolchains
	@failed=; \
	$(call check,kuzma,test,pkg-config cmake); \
	$(call check,kuzma,constant-time,valgrind); \
	$(call check,kuzma,sanitize,$(SANITIZER),CC=$(SANITIZER)); \
	$(call check,pipe-writer,test,pkg-config cmake pv); \
	$(call check,pipe-writer,sanitize,$(SANITIZER) pv,CC=$(SANITIZER)); \
	$(call check,morse,test,pkg-config cmake); \
	$(call check,morse,sanitize,$(SANITIZER),CC=$(SANITIZER)); \
	$(call check,probe,test); \
	$(call check,probe,sanitize,$(SANITIZER),CC=$(SANITIZER)); \
	setup/stamped.sh alone kuzma pipe-writer morse setup/test_alone.sh setup/stamped.sh +cc +pkg-config +cmake -- \
		$(WATCHED) setup/test_alone.sh || failed=1; \
	$(MAKE) --no-print-directory fuzz-native || failed=1; [ -z "$$failed" ]

# In short: one second for each target. What is found is kept there.
fuzz-native: FUZZ_SECONDS = 1
fuzz-native: toolchains
	@failed=; if echo 'int LLVMFuzzerTestOneInput(const char *a, long n) { return a && n; }' | clang -fsanitize=fuzzer -x c - -o /dev/null 2>/dev/null; then \
		$(call check,kuzma,fuzz,clang,FUZZ_SECONDS=$(FUZZ_SECONDS)); \
		$(call check,morse,fuzz,clang,FUZZ_SECONDS=$(FUZZ_SECONDS)); \
		$(call check,probe,fuzz,clang,FUZZ_SECONDS=$(FUZZ_SECONDS)); \
	else $(call left_out,fuzzing,there is no clang with libFuzzer here); fi; [ -z "$$failed" ]

# The lab's tests start the real stend-probe, so it is built first. ONLY='targets:: history::' runs only those with such names.
# Each package of the workspace is compiled as it is for the others: --workspace everywhere, since cargo chooses features by
# what is selected. The statistics depend on nothing else here, and take long.
ONLY =
# Guests are emulated, and take minutes of processor time: begun last, they would run alone at the end.
RUNNER = $(TARGET)/debug/test-runner --times $(TARGET)/test-times --long guests:: --long clusters::
test-lab: programs
	@$(CARGO) test $(CARGO_FLAGS) --workspace --no-run --message-format=json-render-diagnostics >$(TARGET)/tests.json
	@export STEND_PROBE="$(CURDIR)/$(RELEASE)/stend-probe"; failed=; exec <$(TARGET)/tests.json; \
	if [ -n "$(ONLY)" ]; then $(RUNNER) $(ONLY) || failed=1; else \
		$(RUNNER) --skip stend-stats/ || failed=1; exec <$(TARGET)/tests.json; \
		setup/stamped.sh statistics crates/stend-stats crates/test-runner Cargo.toml Cargo.lock docs/design/method.md +rustc -- \
			$(RUNNER) stend-stats/ || failed=1; \
	fi; $(CARGO) test --quiet $(CARGO_FLAGS) --workspace --doc || failed=1; [ -z "$$failed" ]

# The lab waits for its disks and machines, the browser for its pages: side by side they take little more than the lab alone.
test-rust: programs
	@{ $(MAKE) --no-print-directory test-browser >$(TARGET)/test-browser.log 2>&1; } & browser=$$!; failed=; \
	$(MAKE) --no-print-directory test-lab || failed=1; \
	wait $$browser || failed=1; cat $(TARGET)/test-browser.log; [ -z "$$failed" ]

test-browser: toolchains ## the report and the console in headless Chromium: sorting, figures, runs started and watched, languages, telephone, paper, accessibility
	@CARGO="$(firstword $(CARGO))" crates/stend/tests/browser/run.sh "$(CURDIR)/$(TARGET)"

include setup/cross.mk

# Each target until it has made FUZZ_RUNS runs (10 million) or FUZZ_SECONDS (60) are over. A workspace of its own, built with other flags.
FUZZ =
fuzz: packages-test toolchains ## feed all that reads other people's files and text with mutations; FUZZ='suite wire' takes some, FUZZ_SECONDS=600 longer
	@CARGO="$(CARGO)" fuzz/run.sh "$(TARGET)" $(FUZZ)

# Ends with a line in .ci/test-all that says what passed; commit it.
test-all: packages-test packages-cross packages-operations packages-bench build ## all that is too long for each change: two hours
	@setup/test_all.sh "$(TARGET)"

test-mutants: packages-test programs ## how many mistakes the tests find: those of setup/mutants.txt, and those that cargo-mutants makes in chosen files; an hour
	@setup/test_mutants.sh "$(TARGET)"

test-steady: packages-test programs ## make test, once built, 5 times beside four busy loops and 3 times on 0.3 processors; names what failed
	@setup/test_steady.sh

schemas: ## write the JSON Schemas anew from the types
	@STEND_WRITE_SCHEMAS=1 $(CARGO) test --quiet $(CARGO_FLAGS) --package stend-model --test schemas
	@STEND_WRITE_SCHEMAS=1 $(CARGO) test --quiet $(CARGO_FLAGS) --package stend --package stend-server --lib the_file_is_what_the_types_say

bench: build ## the speeds that this project promises, of the lab, pipes and Morse code; those of ciphers: bench-kuzma
	@failed=; for part in bench-lab bench-pipes; do $(MAKE) --no-print-directory $$part || failed=1; done; [ -z "$$failed" ]

# A figure above what is promised must not hide those after it.
bench-lab: build ## the lab's own speeds: sampling, time between repeats, list, show and report, comparing
	@failed=; \
	STEND_PROBE="$(CURDIR)/$(RELEASE)/stend-probe" $(CARGO) bench --quiet $(CARGO_FLAGS) --package stend --bench lab || failed=1; \
	$(CARGO) run --quiet --release $(CARGO_FLAGS) --package stend-stats --example compare_speed || failed=1; \
	$(MAKE) --no-print-directory bench-report || failed=1; [ -z "$$failed" ]

# Takes root and sshd. Two runs of SUITE a round, of about five minutes each for the suite quick.
HOSTS_ROUNDS = 2
bench-hosts: packages-test build ## whether ssh adds to what is measured: SUITE here by itself and through ssh to itself, in turns; no verdict is right
	@$(CARGO) bench --quiet $(CARGO_FLAGS) --package stend --bench hosts -- $(HOSTS_ROUNDS) $(SUITE) $(RUN_FLAGS)

bench-report: build ## large reports: written, their size, and how soon headless Chromium has them open
	@STEND_PROBE="$(CURDIR)/$(RELEASE)/stend-probe" $(CARGO) bench --quiet $(CARGO_FLAGS) --package stend --bench report

bench-pipe: toolchains ## the pipe writer beside write(), by processor time of both ends
	@$(call in_folder,pipe-writer,bench)

soak-pipe: packages-test toolchains ## 100 GB through pipes with readers of all kinds, every byte looked at
	@$(call in_folder,pipe-writer,soak)

# Other people's Morse coder is built for this very processor, as bench-kuzma has its peers. Writes what it measured, and
# two tables of docs/design/pipes.md, to docs/design/data/.
PIPES_ROUNDS = 15
bench-pipes: packages-bench toolchains ## all bars of pipes, Morse code and Fizz Buzz in one run, and which writers survive which readers
	@$(call in_folder,probe,all) && $(call in_folder,pipe-writer,tests) && $(call in_folder,morse,all tests)
	@RUSTFLAGS='-C target-cpu=native' $(CARGO) build --quiet --release --locked --target-dir $(TARGET)/peers --package stend-peers
	@RUSTFLAGS='-C target-cpu=native' $(CARGO) install --quiet --locked ripmors --version 0.1.0 --root $(TARGET)/peers --target-dir $(TARGET)/peers || \
		echo 'bench-pipes: the program ripmors cannot be had; what is measured beside it is left out' >&2
	@mkdir -p docs/design/data
	@probe/bench/bars.sh "probe/$(NATIVE_BUILD)" $(TARGET)/peers docs/design/data/pipes-bars $(PIPES_ROUNDS)
	@probe/bench/survivors.sh "probe/$(NATIVE_BUILD)" docs/design/data/pipes-survivors
	@probe/bench/set_tables.sh docs/design/pipes.md

# Writes what it measured, and two tables of docs/guide/storage.md, to docs/design/data/. What is not met is said last.
STORAGE_PAIRS = 12
STORAGE_SCALE = 0.0025
bench-storage: packages-bench build ## fio under stend beside fio alone, and the rig of the articles in short: made, loaded, taken down
	@mkdir -p docs/design/data
	@STEND_PROBE="$(CURDIR)/$(RELEASE)/stend-probe" $(CARGO) bench --quiet $(CARGO_FLAGS) --package stend --bench storage >$(TARGET)/storage-hour
	@crates/stend/benches/storage.sh "$(CURDIR)/$(RELEASE)/stend" "$(CURDIR)/$(RELEASE)/stend-probe" docs/design/data/storage \
		$(STORAGE_PAIRS) $(STORAGE_SCALE) <$(TARGET)/storage-hour; status=$$?; probe/bench/set_tables.sh docs/guide/storage.md; exit $$status

# All shell that is kept here, whoever runs it.
SHELL_FILES = .ci/run $(shell find setup $(C_FOLDERS) crates fuzz -name '*.sh')

# Builds kuzma with both compilers and the peers for this very processor, and measures all in one run. Writes what it
# measured, and the tables of kuzma/docs/inside.md, to docs/design/data/.
bench-kuzma: packages-bench build ## kuzma beside other people's ciphers, and all its modes and backends
	@for compiler in gcc clang; do \
		$(call make_in,probe,all CC=$$compiler,../$(TARGET)/native/$$compiler) || exit 1; done
	@$(call make_in,kuzma,peers CC=gcc,../$(TARGET)/native/gcc) || \
		echo 'bench-kuzma: GnuTLS is left out: apt-get install libgnutls28-dev' >&2
	@RUSTFLAGS='-C target-cpu=native' $(CARGO) build --quiet --release --locked --target-dir $(TARGET)/peers --package stend-peers
	@mkdir -p docs/design/data
	@$(RELEASE)/stend run kuzma/bench/peers.toml $(RUN_FLAGS) || [ $$? -eq 3 ]
	@$(RELEASE)/stend compare last --format csv >docs/design/data/kuzma-peers.csv
	@kuzma/bench/peers_table.sh docs/design/data/kuzma-peers.csv >docs/design/data/kuzma-peers.md
	@$(RELEASE)/stend run ciphers $(RUN_FLAGS) || [ $$? -eq 3 ] || [ $$? -eq 4 ]
	@$(RELEASE)/stend compare last --format csv >docs/design/data/kuzma-ciphers.csv
	@kuzma/bench/backends_table.sh docs/design/data/kuzma-ciphers.csv >docs/design/data/kuzma-ciphers.md
	@cat docs/design/data/kuzma-peers.md docs/design/data/kuzma-ciphers.md

# The peer is built for this very processor, as bench-kuzma has it.
bench-morse: toolchains ## the Morse coder in memory beside another program's: text and code, every backend, in turns
	@RUSTFLAGS='-C target-cpu=native' $(CARGO) build --quiet --release --locked --target-dir $(TARGET)/peers --package stend-peers
	@$(call in_folder,morse,bench) \
		BENCH_FLAGS="-p '$(CURDIR)/$(TARGET)/peers/release/stend-peer-morse' $(BENCH_FLAGS)"

# What gcc warns of depends on its optimizer; what clang warns of does not, so it makes no code.
lint: packages-test toolchains ## rustfmt, clippy, the fuzz targets' lock file, C warnings as errors under gcc and clang, shellcheck, mutants that fit, no built files in git
	@failed=; \
	$(CARGO) fmt --all --check || failed=1; \
	$(CARGO) fmt --manifest-path fuzz/Cargo.toml --check || failed=1; \
	$(CARGO) metadata --locked --quiet --manifest-path fuzz/Cargo.toml --format-version 1 >/dev/null || failed=1; \
	for compiler in gcc clang; do code=; \
		[ $$compiler = gcc ] || code=OPTIMIZE=-fsyntax-only; \
		if command -v $$compiler >/dev/null; then $(foreach folder,$(C_FOLDERS), \
			setup/stamped.sh "lint $(folder) $$compiler" $($(folder)_needs) setup/stamped.sh +$$compiler -- \
				$(call make_in,$(folder),lint CC=$$compiler $$code,../$(TARGET)/native/$$compiler) || failed=1;) \
		else $(call left_out,lint,no $$compiler here; its warnings are not checked); fi; done; \
	if command -v shellcheck >/dev/null; then shellcheck -x -P SCRIPTDIR $(SHELL_FILES) || failed=1; \
	else $(call left_out,lint,no shellcheck here; the shell scripts are not checked); fi; \
	setup/mutants.sh --changes || failed=1; \
	built=$$(git ls-files --eol 2>/dev/null | sed -n 's/^i\/-text[^\t]*\t/  /p'); \
	[ -z "$$built" ] || { echo "lint: no text, and kept in git:" >&2; echo "$$built" | head >&2; failed=1; }; \
	case "$${RUSTC_WORKSPACE_WRAPPER:-}" in \
	*clippy-driver) said=$$($(CARGO) test --quiet $(CARGO_FLAGS) --workspace --all-targets --no-run 2>&1) || failed=1; \
		[ -z "$$said" ] || { echo "$$said"; failed=1; } ;; \
	*) $(CARGO) clippy --quiet $(CARGO_FLAGS) --workspace --all-targets -- -D warnings || failed=1 ;; esac; \
	[ -z "$$failed" ]

install: build ## install under PREFIX, /usr/local if not given
	@install -d "$(DESTDIR)$(PREFIX)/bin" "$(DESTDIR)$(PREFIX)/share/man/man1" "$(DESTDIR)$(PREFIX)/share/bash-completion/completions"
	@install -m 755 $(RELEASE)/stend $(RELEASE)/stend-probe $(RELEASE)/morse "$(DESTDIR)$(PREFIX)/bin/"
	@$(RELEASE)/stend man "$(DESTDIR)$(PREFIX)/share/man/man1"
	@$(RELEASE)/stend completions bash > "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/stend"
	@echo "installed: $(DESTDIR)$(PREFIX)/bin/stend, stend-probe and morse"

clean: ## remove what was built here
	@rm -rf $(TARGET) $(C_FOLDERS:%=%/build) $(C_FOLDERS:%=%/build-*)

toolchains:
	@command -v $(firstword $(CARGO)) >/dev/null || { echo "stend: cargo is missing. Install Rust 1.89 or newer from https://rustup.rs (Debian's own is too old before Debian 14)." >&2; exit 1; }
	@rustc --version 2>/dev/null | awk '{ split($$2, v, "."); enough = v[1] > 1 || v[2] >= 89 } END { exit !enough }' || { echo "stend: Rust 1.89 or newer is needed, and here is: $$(rustc --version 2>/dev/null || echo none). Get it from https://rustup.rs" >&2; exit 1; }
	@command -v $(firstword $(CC)) >/dev/null || { echo "stend: a C compiler is missing. On Debian or Ubuntu: apt-get install -y gcc libc6-dev make" >&2; exit 1; }

packages-run:
	@setup/packages.sh run

packages-test:
	@setup/packages.sh test

packages-bench:
	@setup/packages.sh bench

packages-operations:
	@setup/packages.sh operations

packages-cross:
	@setup/packages.sh cross

packages-profile:
	@setup/packages.sh profile
