#!/usr/bin/env Rscript
# Make the stored vectors that tests/it/against_r.rs checks against.
#
#     apt install r-base-core && Rscript make_vectors.R
#
# Writes r_*.csv into the working directory. Seeds are fixed; the versions used are in r_versions.csv.
# A column whose values are lists has them separated by spaces.

set.seed(20261121)
# Six decimals, so that what is stored is what R computed with.
noise <- function(...) round(rnorm(...), 6)
text <- function(x) paste(format(x, digits = 15, trim = TRUE, scientific = FALSE, drop0trailing = TRUE), collapse = " ")
save <- function(name, rows) {
  write.csv(do.call(rbind, lapply(rows, as.data.frame)), paste0("r_", name, ".csv"), row.names = FALSE, quote = FALSE)
}

adjusted <- lapply(c(1, 3, 12, 40), function(n) { p <- rbeta(n, 0.4, 1.5); list(p = text(p), q = text(p.adjust(p, "BH"))) })
save("false_discovery", adjusted)

# Student's t-test with pooled variance, by way of a history with one change at a known place.
histories <- list()
for (n in c(3, 8, 30)) for (shift in c(8, 20)) {
  left <- noise(n, 100); right <- noise(n + 2, 100 + shift)
  histories[[length(histories) + 1]] <- list(left = text(left), right = text(right),
                                             p = text(t.test(left, right, var.equal = TRUE)$p.value))
}
save("t_test", histories)

save("nile", list(list(flow = text(as.numeric(Nile)))))

save("versions", list(list(r = as.character(getRversion()))))
