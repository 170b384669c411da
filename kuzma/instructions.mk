# What the compiler is told for files that use instructions beyond the baseline, by their folder and the start of their name. One line each:
# rust/build.rs reads them too, and whoever else compiles these files.
# ssse3, avx2: loops and functions begin at cache lines. Kuznyechik's kernels are long, and where their loops lay was worth up to half of
# their speed on Zen 3 (docs/inside.md).
# gfni: coded with VEX, so that it goes without AVX-512.
x86_ssse3 = -mssse3 -falign-functions=64 -falign-loops=64
x86_pclmul = -mssse3 -mpclmul
x86_avx2 = -mavx2 -falign-functions=64 -falign-loops=64
x86_gfni = -mavx2 -mgfni
x86_avx512 = -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vbmi -mavx512vbmi2 -mgfni -mvpclmulqdq -mpclmul -mprefer-vector-width=512
arm_pmull = -march=armv8-a+crypto
