#!/usr/bin/env Rscript
# Make the stored vectors that tests/it/against_r.rs checks against.
#
#     apt install r-base-core r-cran-boot r-cran-mcmc r-cran-exactranktests && Rscript make_vectors.R
#
# Writes r_*.csv into the working directory. Seeds are fixed; the versions used are in r_versions.csv.
# A column whose values are lists has them separated by spaces.

suppressMessages({library(boot); library(mcmc); library(exactRankTests)})
set.seed(20261121)
# Six decimals, so that what is stored is what R computed with.
noise <- function(...) round(rnorm(...), 6)
lognoise <- function(...) round(rlnorm(...), 6)
text <- function(x) paste(format(x, digits = 15, trim = TRUE, scientific = FALSE, drop0trailing = TRUE), collapse = " ")
save <- function(name, rows) {
  write.csv(do.call(rbind, lapply(rows, as.data.frame)), paste0("r_", name, ".csv"), row.names = FALSE, quote = FALSE)
}

# Exact rank test, ties included (wilcox.exact), and Hodges and Lehmann's shift (wilcox.test's estimate is an approximation
# with ties, so it is the median of all differences there).
rank_tests <- list()
for (size in list(c(4, 6), c(6, 6), c(10, 10), c(12, 20), c(25, 30)))
  for (step in c(0, 0.5, 2)) {
    a <- noise(size[1], 0.6); b <- noise(size[2])
    if (step > 0) { a <- round(a / step) * step; b <- round(b / step) * step }
    test <- wilcox.exact(a, b, exact = TRUE)
    rank_tests[[length(rank_tests) + 1]] <- list(a = text(a), b = text(b), u = text(test$statistic), p = text(test$p.value),
                                                 shift = text(median(outer(a, b, "-"))))
  }
save("rank_tests", rank_tests)

# Sign flips: perm.test of pairs counts all sign patterns of whole numbers.
flips <- list()
for (n in c(6, 9, 14, 20)) for (shift in c(0, 3)) {
  d <- sample(-6:9, n, TRUE) + shift
  d[d == 0] <- 1 # perm.test leaves zeros out
  flips[[length(flips) + 1]] <- list(d = text(d), p = text(perm.test(d, rep(0, n), paired = TRUE, exact = TRUE)$p.value))
}
save("sign_flip", flips)

adjusted <- lapply(c(1, 3, 12, 40), function(n) { p <- rbeta(n, 0.4, 1.5); list(p = text(p), q = text(p.adjust(p, "BH"))) })
save("false_discovery", adjusted)

# Percentile and BCa intervals of the log ratio of medians from boot's draws. The ends of BCa are found here: boot.ci counts
# draws equal to the estimate as above it, and medians often are equal; they count half here, as in SciPy.
bca <- list()
for (n in c(11, 15, 20)) for (sigma in c(0.02, 0.25)) {
  a <- lognoise(n, 0.05, sigma); b <- lognoise(n + 1, 0, sigma)
  data <- data.frame(x = c(a, b), side = rep(1:2, c(n, n + 1)))
  statistic <- function(d, i) { d <- d[i, ]; log(median(d$x[d$side == 1])) - log(median(d$x[d$side == 2])) }
  drawn <- boot(data, statistic, R = 60000, strata = data$side)
  t <- drop(drawn$t); t0 <- drawn$t0
  influence <- function(x, sign) {
    without <- sapply(seq_along(x), function(i) log(median(x[-i])))
    sign * (length(x) - 1) * (mean(without) - without) / length(x)
  }
  l <- c(influence(a, 1), influence(b, -1))
  acceleration <- sum(l^3) / (6 * sum(l^2)^1.5)
  z0 <- qnorm(mean(t < t0 - 1e-12) + mean(abs(t - t0) <= 1e-12) / 2)
  z <- z0 + qnorm(c(0.025, 0.975))
  ends <- function(levels) exp(unname(quantile(t, levels, type = 1)))
  bca[[length(bca) + 1]] <- list(a = text(a), b = text(b), bca = text(ends(pnorm(z0 + z / (1 - acceleration * z)))),
                                 percentile = text(ends(c(0.025, 0.975))))
}
save("bootstrap", bca)

series <- function(n, phi) round(as.numeric(100 + arima.sim(list(ar = phi), n)), 6)
correlated <- list()
for (n in c(20, 101, 300)) for (phi in c(-0.5, 0.01, 0.5, 0.9)) {
  x <- series(n, phi)
  geyer <- initseq(x)
  correlated[[length(correlated) + 1]] <- list(x = text(x), acf = text(drop(acf(x, 10, plot = FALSE)$acf)),
                                               gamma0 = text(geyer$gamma0), variance = text(geyer$var.dec))
}
save("correlation", correlated)

# Student's t-test with pooled variance, by way of a history with one change at a known place.
histories <- list()
for (n in c(3, 8, 30)) for (shift in c(8, 20)) {
  left <- noise(n, 100); right <- noise(n + 2, 100 + shift)
  histories[[length(histories) + 1]] <- list(left = text(left), right = text(right),
                                             p = text(t.test(left, right, var.equal = TRUE)$p.value))
}
save("t_test", histories)

save("nile", list(list(flow = text(as.numeric(Nile)))))

# The interval of the shift: wilcox.test without ties, where it is exact. Beyond 120 values ours takes the normal
# approximation; there the exact ends stand here, from qwilcox.
shifts <- list()
for (size in list(c(4, 6), c(6, 6), c(10, 10), c(12, 20), c(7, 45), c(50, 60), c(70, 80), c(100, 60)))
  for (level in c(0.8, 0.95, 0.99)) {
    a <- noise(size[1], 10.6); b <- noise(size[2], 10, 1.5)
    exact <- wilcox.test(a, b, exact = TRUE, conf.int = TRUE, conf.level = level)
    k <- qwilcox((1 - level) / 2, size[1], size[2])
    shifts[[length(shifts) + 1]] <- list(a = text(a), b = text(b), confidence = level, shift = text(exact$estimate),
                                         low = text(exact$conf.int[1]), high = text(exact$conf.int[2]), rank = k,
                                         attained = text(1 - 2 * pwilcox(k - 1, size[1], size[2])))
  }
save("shift_interval", shifts)

# Spearman's rank correlation, with and without ties; p by Student's t.
ranks <- list()
for (n in c(6, 10, 25, 120)) for (slope in c(-1, 0, 0.4)) for (step in c(0, 1)) {
  x <- noise(n); y <- round(slope * x + noise(n), 6)
  if (step > 0) { x <- round(x / step) * step; y <- round(y / step) * step }
  test <- suppressWarnings(cor.test(x, y, method = "spearman", exact = FALSE))
  ranks[[length(ranks) + 1]] <- list(x = text(x), y = text(y), correlation = text(test$estimate), p = text(test$p.value))
}
save("rank_correlation", ranks)

# Pairs: the signed-rank test, its pseudomedian and interval, exact; beyond 120 pairs ours takes the normal approximation.
pairs <- list()
for (n in c(6, 7, 10, 15, 20, 40, 49, 120, 200)) for (shift in c(0, 0.5)) for (level in c(0.9, 0.95)) {
  d <- noise(n, shift)
  exact <- wilcox.test(d, exact = TRUE, conf.int = TRUE, conf.level = level)
  k <- qsignrank((1 - level) / 2, n)
  pairs[[length(pairs) + 1]] <- list(d = text(d), w = text(exact$statistic), p = text(exact$p.value), confidence = level,
                                     middle = text(exact$estimate), low = text(exact$conf.int[1]), high = text(exact$conf.int[2]),
                                     rank = k, attained = text(1 - 2 * psignrank(k - 1, n)))
}
save("signed_rank", pairs)

save("versions", list(list(r = as.character(getRversion()), boot = as.character(packageVersion("boot")),
                           mcmc = as.character(packageVersion("mcmc")), exactRankTests = as.character(packageVersion("exactRankTests")))))
