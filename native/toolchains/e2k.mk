# Elbrus, by MCST's cross compiler and emulator, which MCST gives away (docs/elbrus.md says where) and no distribution packages.
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
test-e2k:
	@command -v '$(E2K_CC)' >/dev/null || { \
		echo "test-e2k: there is no compiler for Elbrus: $(if $(E2K),$(E2K_CC),nothing in /opt/mcst); name its place by E2K=… (docs/elbrus.md)" >&2; exit 4; }
	@command -v '$(E2K_QEMU)' >/dev/null || { \
		echo "test-e2k: there is no emulator $(E2K_QEMU) on the PATH; name it by E2K_QEMU=… (docs/elbrus.md)" >&2; exit 4; }
	@AGREEMENT_STEP=997 FUZZ_SECONDS=0 SAMPLE_COST_LIMIT_NS=2000000000 RUN='$(E2K_RUN)' $(MAKE) -s CC='$(E2K_CC)' AR='$(E2K_AR)' \
		CFLAGS='$(E2K_CFLAGS)' BUILD=$(BUILD)-e2k test

.PHONY: test-e2k
