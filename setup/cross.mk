# The C half as other machines have it: static programs of other processors under an emulator, what a compiler gets that knows no
# intrinsics, and what one for Elbrus sees. Big-endian: s390x; 32 bits: i686. An emulator tells whether the code is right, never how fast.
# The tests of all folders, made by these words of make; $(1): where it is built, as seen from a folder.
in_each = failed=; export AGREEMENT_STEP=$(STEP) SAMPLE_COST_LIMIT_NS=2000000000; \
	$(foreach folder,$(C_FOLDERS),$(WATCHED) $(call make_in,$(folder),-k test $(2),$(1)) || failed=1;) [ -z "$$failed" ]

# One of 64 bits with vectors of its own, and one whose first byte is the highest. make test-all has more.
CROSS = aarch64 s390x
test-cross: packages-cross toolchains ## the C half as other processors and compilers have it, in emulators; CROSS='riscv64 i686 plain elbrus-macros' names others
	@failed=; for one in $(CROSS); do \
		setup/stamped.sh "native as $$one" $(C_FOLDERS) setup +$(CC) +$$one-linux-gnu-gcc +qemu-$$one-static -- \
			$(MAKE) --no-print-directory as-$$one || failed=1; done; [ -z "$$failed" ]

as-%: STEP = 997
as-%: EMULATOR = qemu-$(patsubst i686,i386,$(patsubst powerpc64le,ppc64le,$*))-static
as-%:
	@for program in $*-linux-gnu-gcc $(EMULATOR); do \
		command -v $$program >/dev/null && continue; \
		$(call left_out,test-cross,there is no $$program here); exit 0; \
	done; echo "$*:"; \
	$(call in_each,../$(TARGET)/native/cross-$*,CC=$*-linux-gnu-gcc AR=$*-linux-gnu-ar LDFLAGS=-static RUN=$(EMULATOR))

as-plain: STEP = 31
as-plain:
	@echo 'without intrinsics:'
	@$(call in_each,../$(TARGET)/native/plain,CFLAGS='-pedantic-errors -DSTEND_NO_INTRINSICS -DKUZMA_NO_INTRINSICS')

as-elbrus-macros:
	@echo 'with the macros of Elbrus:'
	@$(MAKE) --no-print-directory -s $(JOBS) -C probe BUILD=../$(TARGET)/native/cc test-elbrus-macros

# Elbrus, by MCST's cross compiler and emulator, which MCST gives away (docs/guide/elbrus.md says where) and no distribution packages.
#   make test-e2k E2K=/opt/mcst/lcc-1.29.16.e2k-v5.linux-6.1 [E2K_CPU=NAME] [E2K_CC=lcc] [E2K_QEMU=qemu-e2k-static]
# E2K: where the compiler is installed; the newest one below /opt/mcst if not given. Its files for Elbrus are in fs/.
E2K = $(lastword $(sort $(wildcard /opt/mcst/lcc-*)))
E2K_CC = $(E2K)/bin/lcc
E2K_AR = $(firstword $(wildcard $(E2K)/bin/ar $(E2K)/bin/e2k-linux-ar) ar)
E2K_QEMU = qemu-e2k-static
# As `qemu-e2k-static -cpu help` names them; the emulator's own choice if not given.
E2K_CPU =
# What the compiler takes for a given processor: -march=elbrus-8c2.
E2K_CFLAGS =
E2K_RUN = $(E2K_QEMU) $(if $(E2K_CPU),-cpu $(E2K_CPU)) -L $(E2K)/fs

# Says in one line what is missing, and builds nothing then.
test-e2k: STEP = 997
test-e2k:
	@command -v '$(E2K_CC)' >/dev/null || { \
		echo "test-e2k: there is no compiler for Elbrus: $(if $(E2K),$(E2K_CC),nothing in /opt/mcst); name its place by E2K=… (docs/guide/elbrus.md)" >&2; exit 4; }
	@command -v '$(E2K_QEMU)' >/dev/null || { \
		echo "test-e2k: there is no emulator $(E2K_QEMU) on the PATH; name it by E2K_QEMU=… (docs/guide/elbrus.md)" >&2; exit 4; }
	@$(call in_each,../$(TARGET)/native/e2k,CC='$(E2K_CC)' AR='$(E2K_AR)' CFLAGS='$(E2K_CFLAGS)' RUN='$(E2K_RUN)')

.PHONY: test-cross as-plain as-elbrus-macros test-e2k
