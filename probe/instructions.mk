# What the compiler is told for files that use instructions beyond the baseline, by their folder and the start of their name. One line each:
# build.sh reads them too.
x86_avx512 = -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vbmi -mavx512vbmi2 -mgfni -mvpclmulqdq -mpclmul -mprefer-vector-width=512
