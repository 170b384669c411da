# Why a repeat does not count, or was not measured. What a program said follows behind a colon, where it said something.

cause-steal = the hypervisor took away { PERCENT($share) } of the machine's CPU time
cause-foreign-cpu = other programs used { PERCENT($share) } of the machine's CPU time
cause-steal-of-host = the hypervisor took away { PERCENT($share) } of the CPU time of the guest's host
cause-foreign-cpu-of-host = other programs used { PERCENT($share) } of the CPU time of the guest's host
cause-clock-fell = the clock fell by { PERCENT($share) } while it ran, from { GIGAHERTZ($before_hz) } to { GIGAHERTZ($after_hz) } GHz
cause-swapping = { $pages ->
    [one] { $pages } page was swapped
   *[other] { $pages } pages were swapped
}
cause-throttling = { $times ->
    [one] a CPU was throttled by heat once
   *[other] { $times } times a CPU was throttled by heat
}

cause-work-wrong = the work was wrong
cause-work-unverified = the work was not verified; if it cannot be, set verification = "none"
cause-metric-missing = the instrument did not report what the metric "{ $metric }" needs ({ $value })
cause-partner-missing = the other side's repeat beside it does not count

cause-fault-too-late = the load ended before "{ $fault }" at { $at }; make the load longer, or the fault earlier
cause-fault-failed = "{ $fault }" failed
cause-scrub-errors = scrubbing disk { $disk } found { $errors ->
    [one] { $errors } error
   *[other] { $errors } errors
} that could not be repaired
cause-scrub-failed = disk { $disk } cannot be scrubbed
cause-disk-not-mended = disk { $disk } was not repaired within { $limit }
cause-rebuild-failed = disk { $disk } cannot be rebuilt, tried { $tries ->
    [one] once
   *[other] { $tries } times
}
cause-rebuild-full = disk { $disk } cannot be rebuilt, tried { $tries ->
    [one] once
   *[other] { $tries } times
}: no space left; btrfs needs space outside the LUNs on each disk: make the LUNs smaller
cause-disk-not-renewed = the disk that was disk { $disk } cannot be used again
cause-errors-unread = the error counters of disk { $disk } cannot be read
cause-moment-unknown = the machine did not report the time of "{ $fault }"
cause-server-ended = server { $server } ended meanwhile
cause-server-not-made = server { $server } could not be set up
cause-pool-down = the pool cannot be brought up again
cause-remains-unread = what is left of the pool cannot be read: { $why }

cause-timed-out = it did not end within { $limit } and was ended
cause-timed-out-alive = it did not end within { $limit } and could not be ended
cause-exited = it ended with status { $status }
cause-killed = it was killed by signal { $signal }
cause-end-unknown = it is not known how it ended
cause-misused = it was started wrongly (status 2)
cause-guard-died = the guard died
cause-link-dropped = the link dropped, or the guard there died
cause-files-unwritten = its files cannot be written there
cause-parameters = its parameters were rejected
cause-rate-unknown = its rate is a share of "{ $of }", which has no valid repeat

cause-too-many-lines = it printed more than { $most } lines
cause-too-much-printed = it printed more than { $most_mib } MiB
cause-too-many-marks = it printed more than { $most } "mark" events
cause-too-many-tests = more than { $most } tests
cause-no-event = it printed a line that is no event
cause-second-begin = it printed a second "begin"
cause-no-begin = it printed no "begin", with which an instrument begins; instrument = "time" times any other program
cause-no-repeat = it printed no "repeat"
cause-many-repeats = it printed { $count } "repeat" events instead of one
cause-no-end = it printed no "end"
cause-latencies-wrong = the latencies in its "repeat" are wrong

cause-tool-exited = { $tool } exited with status { $status }
cause-tool-killed = { $tool } was ended by signal { $signal }
cause-tool-timed-out = { $tool } was stopped because its time was up
cause-tool-end-unknown = it is not known how { $tool } ended
cause-tool-line = { $output } has a line that cannot be parsed
cause-fio-report-cut = fio's report is not complete JSON ({ $error })
cause-fio-report-other = fio's report is not as expected ({ $error })
cause-fio-report-missing = fio wrote no report
cause-fio-groups = fio's report has { $count ->
    [one] { $count } group
   *[other] { $count } groups
} of jobs instead of { $wanted }
cause-fio-job-failed = fio's job "{ $job }" failed with error { $error }{ $errors ->
    [0] {""}
    [one] , { $errors } error
   *[other] , { $errors } errors
}
cause-fio-idle = fio did no operation
cause-fio-figure = by fio's report "{ $name }" is { $figure }, which is not a valid amount
cause-fio-luns-read = fio read again { $count ->
    [one] { $count } LUN
   *[other] { $count } LUNs
} instead of { $wanted }
cause-fio-bytes-read = fio tried to read { $tried } of { $wanted } bytes in { $job } and accounts for { $accounted }
cause-fio-file-missing = fio did not write { $file }
cause-openssl-processes = openssl speed counted in { $count ->
    [one] { $count } process
   *[other] { $count } processes
} instead of { $wanted }
cause-openssl-count = openssl speed counted { $operations ->
    [one] { $operations } operation
   *[other] { $operations } operations
} in { $seconds } s of { $wanted } s
cause-tool-untimed = { $tool } took no time at all; the guard did not measure it
cause-tests-cut = the test suite did not run to its end
cause-no-tests = the suite reported no test
cause-not-read-again = { $tool } does not read back what it wrote

cause-unasked = the machine cannot be queried
cause-asked-in-part = the script that queries the machine ended early
cause-not-there = there is no { $file }
cause-not-readable = { $file } may not be read
cause-unread = { $file } cannot be read
cause-silent = nothing in { $sources }
cause-uncounted = { $source } does not count here
cause-none-on-path = none of { $tools } is on the machine's PATH

cause-removable = removable, so not part of the machine

cause-begin-unknown = the load does not report when it began
cause-not-read-around = { $metric } was not read close enough to the beginning and the end of the load
cause-cpu-time-unread = the CPU time of { $of } was not read
cause-too-few-windows = there are too few windows of the load before a fault
cause-not-back = the load was not back before it ended
cause-clock-set = the machine's clock was set by about { $seconds } s while fio ran
cause-no-window = no window of { $window } in fio's logs
cause-own-report-too-large = it has { $mib } MiB; at most { $most_mib } MiB are stored

cause-tool-too-old = { $tool } is too old: "{ $version }", and { $needed } is needed
cause-tool-version-unknown = { $tool } does not report its version ("{ $version }"), and { $needed } is needed
cause-engine-missing = fio here has no engine "{ $engine }" (fio --enghelp lists those that it has)
cause-algorithm-missing = openssl here cannot run { $algorithm }: { $said }
cause-no-block-device = the directory for runs' files lies on { $source }, which is no block device
cause-processors-missing = it takes { $needed } processors, and the machine has { $online } online
cause-parameter-lacking = it has no parameter "{ $parameter }", which a side sets
cause-not-native = it is none of the native instruments, and the sides differ in how those are built
cause-not-on-target = it does not load the target, in which the sides differ
cause-faults-need-lab = faults require a connection to the lab
cause-server-needs-lab = servers require a connection to the lab
cause-no-network-to-host = its server is on the guest's host, which the guest does not reach; set up the guest with network = "tap"
cause-tools-need-lab = real tools require a connection to the lab, which parses their output

cause-tool-missing = { $tool } is not on the machine's PATH
cause-tool-forbidden = { $tool } is forbidden here
cause-tool-broken = { $tool } does not work here
cause-tool-silent = { $tool } observed nothing
cause-kernel-unseen = perf may not look into the kernel (kernel.perf_event_paranoid is { $level })
cause-kernel-nameless = the kernel hides the names of its functions (kernel.kptr_restrict is { $level })

# What repeats were lost to.

note-lost = { $run }: { $repeats } of { $of } measured repeats { $repeats ->
    [one] does
   *[other] do
} not count: { $to }
lost-steal = { $count } for steal
lost-foreign-cpu = { $count } for other programs' CPU time
lost-clock-fell = { $count } for a falling clock
lost-swapping = { $count } for swapping
lost-throttling = { $count } for throttling
lost-work = { $count } for wrong or unverified work
lost-partner = { $count } without the other one of a pair
lost-failure = { $count } failed
lost-other = { $count } for other reasons

# What a machine is like before it is measured: its name, what was found, and what to do about it or what it means.

condition-machine = machine
    .value = { $said }
    .advice = it must be reachable and have a POSIX shell
condition-load = load average
    .value = { FIXED($average, digits: 2) } over the last minute, on { $threads ->
        [one] { $threads } hardware thread
       *[other] { $threads } hardware threads
    }
    .advice = wait until the machine is idle, or stop other programs
condition-foreign-load = other programs
    .value = { PERCENT($share) } of the CPU time{ WITH(", most of it by ", $said) }
    .advice = stop them{ WITH(": above ", PERCENT($limit), " no repeat counts") }
condition-steal = steal
    .value = { PERCENT($share) } of the CPU time
    .advice = the host gives this virtual machine's time to other guests{ WITH(": above ", PERCENT($limit), " no repeat counts") }
condition-pressure = pressure { $resource ->
    [cpu] cpu
    [io] io
   *[memory] memory
}
    .value = something waited for { PERCENT($share) } of the last 10 s
    .advice = wait until the machine is idle, or stop other programs
condition-swap = swap
    .value = { $total ->
        [0] none
       *[other] { MIB($used) } of { MIB($total) } MiB used
    }
    .advice = { $pages ->
        [0] swapped-out pages may be read back during a repeat: swapoff -a && swapon -a
       *[other] the machine is swapping: free memory, or repeats will be invalid
    }
condition-free-memory = free memory
    .value = { MIB($available) } of { MIB($total) } MiB available
    .advice = free memory, or the machine will swap
condition-results-space = free space for results
    .value = { SIZE($available) } in { $mount }
    .advice = free some space, or store results elsewhere: --store
condition-load-space = free space for the load
    .value = { SIZE($available) } in { $mount }{ $needed ->
        [0] {""}
       *[other] ; the files in { $directory } need { SIZE($needed) }
    }
    .advice = free some space, or { $needed ->
        [0] set STEND_WORK to another directory
       *[other] { $job_file ->
            [true] place the files elsewhere (STEND_WORK, or directory= in the job file), or make them smaller (--set size=1GiB, of LUNs --set lun_size=1GiB)
           *[false] place the files elsewhere (STEND_WORK, or fio's "directory"), or make them smaller (--scale, --only)
        }
    }
condition-results-unwritable = free space for results
    .value = { $path } cannot be written
    .advice = store results elsewhere: --store
condition-load-unwritable = free space for the load
    .value = { $path } cannot be written
    .advice = set STEND_WORK, or fio's "directory", to another directory
condition-governor = governor
    .value = { $governors ->
        [none] not visible; the host or the firmware sets the clock
       *[other] { $governors }
    }
    .advice = set performance: cpupower frequency-set -g performance
condition-frequency-limit = frequency limit
    .value = up to { MEGAHERTZ($allowed_hz) } of { MEGAHERTZ($possible_hz) } MHz allowed
    .advice = a setting or heat limits the frequency: cpupower frequency-info
condition-turbo = turbo
    .value = { $setting ->
        [none] not visible
        [on] on; short loads run faster than long ones
       *[other] { $setting }
    }
condition-throttling = throttling
    .value = { $times ->
        [0] none since the start
        [one] { $times } event { $just_now ->
            [true] just now
           *[false] since the start
        }
       *[other] { $times } events { $just_now ->
            [true] just now
           *[false] since the start
        }
    }
    .advice = { $just_now ->
        [true] the machine is too hot: cool it, or repeats will be invalid
       *[false] the machine has been too hot before, and may be again under load
    }
condition-throttling-uncounted = throttling
    .value = not counted; only the clock shows whether heat slows the machine down
condition-temperature-sensors = temperature sensors
    .value = { $names ->
        [none] none; temperatures will be recorded as missing
       *[other] { $names }
    }
condition-power = power
    .value = { $battery ->
        [true] battery
       *[false] mains
    }
    .advice = plug it in: the machine may run slower on battery
condition-processors = processors
    .value = { $allowed } of { $online } hardware threads may be used
    .advice = a container or a CPU affinity excludes the others
condition-clock-source = clock source
    .value = { $name }
    .advice = reading it is slow or coarse: the kernel's log has the reason why no better one is used
condition-virtualization = virtualization
    .value = { $by ->
        [none] no sign of any
       *[other] { $by }{ $known ->
            [true] ; other guests on its host can interfere
           *[false] {""}
        }
    }
    .advice = the other load on its host is unknown
condition-huge-pages = transparent huge pages
    .value = { $setting }
condition-address-randomization = address randomization
    .value = { $setting ->
        [off] off
        [partial] stack and libraries
        [full] full
       *[other] { $setting }
    }
condition-other-labs = other labs
    .value = none at work
condition-lab-at-work = other labs
    .value = { $said }
condition-lab-unknown = other labs
    .value = not known: { $path } is there, and no stend-probe yet that could tell who holds it
    .advice = the first run on the machine builds one, and is refused if another lab is at work
condition-unread = not known
    .advice = { $of ->
        [foreign_load] whether the machine is idle is unknown
       *[other] how much may be written is unknown
    }

# What is missing. Parts of the fingerprint have names of their own; tools and control groups are called as they are.

missing-energy = energy
missing-power = power
missing-frequency = frequency
missing-thermal = thermal
missing-cpu = cpu
missing-memory = memory
missing-swap = swap
missing-load = load
missing-disk = disk
missing-net = net
missing-collection = collection
missing-tools = tools
missing-mitigations = mitigations
missing-series = series
missing-report = report

# What a fault did to a part of the target.

deed-disk-dies = disk { $disk } dies
deed-disk-replaced = disk { $disk } replaced
deed-disk-rebuilt = disk { $disk } rebuilt
deed-disk-rots = disk { $disk } rots
deed-scrub-begins = disk { $disk } is scrubbed
deed-scrub-ends = disk { $disk } scrubbed
deed-disk-slows = disk { $disk } slows down
deed-disk-recovers = disk { $disk } recovers
deed-disk-lost = disk { $disk } is lost
deed-power-lost = the pool loses its power
deed-controller-killed = controller { $controller } killed
deed-controller-back = controller { $controller } back

# What was checked of the work.

check-rfc-vector = RFC vector
check-backend = { $blocks ->
    [0] { $bytes ->
        [0] {""}
        [one] all { $bytes } byte{" "}
       *[other] all { $bytes } bytes{" "}
    }
   *[other] { $bytes } bytes from the start and { $blocks } blocks behind, the first and last of each message among them,{" "}
}{ $keys ->
    [0] {""}
    [one] { $keys } key, the last of each message,{" "}
   *[other] { $keys } keys, the last of each message,{" "}
}{ $tags ->
    [0] {""}
   *[other] { $bytes ->
        [0] {""}
       *[other] and{" "}
    }
}{ $tags ->
    [0] {""}
    [one] { $tags } tag{" "}
   *[other] { $tags } tags{" "}
}against the backend { $backend }
check-by-digest = by a digest from an earlier repeat
check-target = all { $bytes } bytes of the target against the source
check-sum-of-words = sum of the words of every pass over { $bytes } bytes
check-last-pass = all { $bytes } bytes against what the last pass stored
check-every-byte = every one of { $bytes } bytes
check-count = count of { $bytes } bytes{ $and ->
    [words] , a word of each 4096
    [blocks] , 4096 of each MiB
   *[nothing] {""}
}
check-full-before = { $bytes } bytes in full before
check-corrupt = { $when ->
    [before] before:{" "}
   *[measured] {""}
}corrupt: { $wrong } words of { $words }
check-unequal = { $when ->
    [before] before:{" "}
   *[measured] {""}
}{ $sent } bytes were sent and { $arrived } arrived
check-counted = { $here } counted here, { $there } counted there
check-out-of-turn = woken out of turn
check-wrong-from = wrong from byte { $byte } on, in line { $line }: { $had } instead of { $wanted }; { $wrong } of { $bytes } bytes are
check-other-length = right, but { $bytes } bytes instead of { $wanted }
check-nothing-came = no byte came

check-no-known-answer = there is no known answer for { $algorithm } that the openssl command can compute
known-answer = { $vector ->
    [sp-800-38a] the NIST SP 800-38A vector of this cipher
    [rfc-6229] the RFC 6229 vector of this cipher
    [gost-34-13] the GOST R 34.13-2015 vector of this cipher
    [cavp-gmac] the NIST CAVP vector of this cipher without plain text (GMAC)
   *[other] the { $vector } digest of abc
}
check-answer-right = this OpenSSL computes { known-answer }; the operations of the timed loop are counted, but their results are not checked
check-answer-impossible = this OpenSSL's command line cannot compute { known-answer }
check-answer-wrong = { known-answer }: { $right } is right, this OpenSSL computes { $computed }
check-http-responses = { $responses } responses, { $bytes } bytes in all, { $errors } errors; one has status { $status } and a body of { $body } bytes with SHA-256 { $sha256 }
check-handshakes = { $connections } connections, { $new } with a full handshake, { $resumed } resumed
check-decompressed = decompressed, it has SHA-256 { $sha256 }; the pages have { $pages_sha256 }
check-gzip-trailer = gzip's trailer has CRC-32 { $crc32 } and { $bytes } bytes; the pages have { $pages_crc32 } and { $pages_bytes }

check-tests-came = { $passed } passed, { $failed } failed, { $skipped } skipped
check-tests-unlike-plan = { WITH($program, ": ") }{ $told } of { $planned } planned tests reported
check-tests-without-end = the output has no plan (1..N), so it may end early
check-tests-given-up = the suite gave up
check-tests-stopped-at-failure = cargo stopped at the first program with a failing test; add --no-fail-fast
check-tests-file-cut = { $file } cannot be read to its end
check-tests-killed = signal { $signal } ended the suite

check-fio-counts = { $direction }: { $operations } operations{ WITH(" of ", $block, " bytes") }, { $bytes } bytes counted, { $short } short, { $dropped } dropped
check-ramp-spanned = up to { $operations } operations may have spanned the end of the ramp
check-read-back = { $bytes } of { $written } bytes written were read back with the marks of this repeat
check-counts-only = no error; counts only, the data are not compared
check-too-short = ran { $ms } ms of { $wanted_ms } ms
check-loops = { $bytes } of { $wanted } bytes in { $loops } loops
check-rate = { $reached } operations/s of { $asked } requested{ $open ->
    [false] : operations waited for others, so the load was not open
   *[true] {""}
}
check-data-wrong = fio's job "{ $job }" read data that differ from those written
check-stands = at offset { $offset } of { $file }: { $what }
check-more-stand = and { $places } more
stood-unreadable = it cannot be read
stood-part = only a part of the block
stood-written = what repeat { $repeat } of run { $run } wrote to { $lun } at offset { $offset }
stood-bits-turned = { $bits } of the block's bits flipped, the first in byte { $first }
stood-zeros = zeros
stood-bytes = other bytes: { $hex } …

check-lost-as-expected = data lost as expected: { $bytes } of { $acknowledged } bytes acknowledged ({ $places })
check-none-lost = none of { $acknowledged } bytes acknowledged is lost, although a loss was expected
check-flushed-lost = { $bytes } of { $flushed } bytes flushed are lost ({ $places })
check-flushed-there = all of { $bytes } bytes flushed are there
check-unflushed-lost = { $bytes } of { $unflushed } bytes acknowledged, but not flushed, are gone
check-pool-unmountable = the pool cannot be mounted any more
check-lost-in = lun{ $lun } { $bytes } between offsets { $first } and { $end }
check-more-lost = and so on

# Texts of the page.

text-report = Report of the stand
text-skip = Skip to the table
text-machine = The machine
text-details = All differences, and what could not be read
text-differs = differs from the base in
text-no-difference = no difference in hardware or software
text-what = What
text-missing = Could not be read
text-session = Session
text-results = Results
text-each-figure = Each figure
text-sweeps = Sweeps
text-heat-caption = In each cell a median. The stronger the colour, the larger the figure; all runs share the scale.
text-curve-title = Latency over throughput
text-sweep-caption = Each point is a scenario; bars are 95 % intervals of its median.
text-bars-caption = Each bar is a scenario; lines are 95 % intervals of its median.
text-curve-caption = Each point is a scenario; crosses are 95 % intervals of both medians. Where a curve turns upwards, additional load only waits.
text-at-points = At the points:
text-logarithmic = The upright axis is logarithmic.
text-closed = closed
text-closed-caption = Hollow, "closed": the load at full depth; the rates are shares of its result, and its latency is that of the queue.
text-legend-wide = Under a figure is the 95 % interval of its median in the same unit, or ± the spread if there are fewer than six repeats.
text-filter = Filter scenarios
text-all-metrics = All metrics
text-scenario = Scenario
text-metric = Metric
text-median = Median
text-spread = Spread
text-count = n
text-interval = 95 % interval
text-base = Base
text-base-is = base is
text-other-runs = Other runs
text-published = Published
text-unsorted = Click a column heading to sort by it; a third click restores the suite's order. Click a figure for its details.
text-better = better
text-worse = worse
text-same = the same within δ
text-unresolved = unresolved: insufficient evidence
text-legend-delta = A change above 0 is for the better: +10 % is a tenth more throughput, or the same work in 1/1.1 of the time; × 2 is twice as good, × 0.5 half. δ: smaller differences do not matter. It is 1 % unless the suite sets it.
text-legend-published = × 2.00 beside a published figure: the base is twice as good – twice the throughput, or half the time; below 1 it is worse. Without samples no test is possible, so there is no mark and no colour.
text-legend-count = n: valid repeats, of all that were measured. * : a value lies far from the rest; it counts.
text-nothing = Nothing was measured.
text-too-few = under six repeats
text-left-out = Not in all runs
text-notes = Before you read the table
text-not-measured = Without a figure
text-remedy = remedy:
text-scenarios = Scenarios
text-expand = Open all
text-collapse = Close all
text-to-top = To the table
text-measures = Measures
text-instrument = Instrument
text-parameters = Parameters
text-higher = higher is better
text-lower = lower is better
text-figures = Figures
text-run-or-machine = Run or machine
text-range = Lowest … highest
text-against = Against the base
text-note = Note
text-repeats = Repeats
text-repeats-caption = Each dot is a repeat, in order of measurement; hollow ones are invalid. Line: median.
text-repeats-band = Band: its 95 % interval.
text-not-from-zero = The axis does not start at zero.
text-latency = How long single operations took
text-latency-steps-caption = All operations of the valid repeats together, except the outermost ten-thousandth at either end. The area of a bin is its share of the operations.
text-latency-curve-caption = The same as percentiles. Each mark to the right leaves a tenth as many operations beyond it. Bars: 95 % intervals. They assume independent operations, so the error of a percentile may be larger.
text-latency-steps-short = All operations of the valid repeats, except the outermost ten-thousandth at either end. Area: share of the operations.
text-latency-percentiles = Percentiles
text-latency-curve-short = Each mark to the right leaves a tenth as many operations beyond it. Bars: 95 % intervals, at least that wide.
text-latency-untold = A percentile requires at least ten operations beyond it: p99.99 requires 100,000.
text-operations = Operations
text-longest = Longest
text-history = History of one metric
text-history-caption = A dot is a run: the median of its valid repeats, with its 95 % interval. Runs are at equal distances, whatever the time between them. Dashed: the level between changes.
text-history-changes = Where the level changed
text-history-runs = The runs
text-history-run = Run
text-history-change = Change
text-number = No.
text-started = Started, UTC
text-value = Value
text-wall = Wall time
text-outcome = Outcome
text-check = Check
text-warmup = warm-up
text-valid = valid
text-invalid = invalid
text-failed = failed
text-check-passed = passed
text-check-failed = failed
text-check-none = not checked
text-error-output = Standard error
text-command = Command
text-faults = What faults did
text-evidence = What was checked
text-each-repeat = Of each repeat
text-build = Build of the measured program
text-series-instrument = Observed by the instrument
text-series-machine = Observed on the machine
text-series-caption = Repeats are drawn one after the other, without the time between them. Grey: warm-up. Orange and ✕: invalid.
text-no-series = No samples were recorded.
text-constant = Unchanged throughout:
text-charts-by-script = The other drawings of these samples are made by the page's script.
text-nothing-differs = Nothing differs: every figure is the same within its floor δ.
text-some-unresolved = No difference is certain: no figure is better or worse, but not all are shown to be the same.
text-all-unresolved = All figures are unresolved: none is shown to be better, worse or the same.
text-when-made = When each repeat was made
text-when-made-caption = A dot is a repeat: across, the time since the run began; up and down, how far it is from its scenario’s median. Hollow dots do not count. What is beyond the scale is at its edge.
text-processor = Processor
text-memory = Memory, disks
text-kernel = Kernel
text-compiler = Compiler
text-system-and-ids = System
text-forest-caption = The change of each scenario with its 95 % interval; to the right is better. Shaded: differences that do not matter. Hollow: one measured after the other.
text-change = Change
text-largest-first = Largest first
text-differing-first = What differs first
text-tests = Tests
text-tests-passed = passed
text-tests-failed = failed
text-tests-flaky = flaky
text-tests-skipped = skipped
text-tests-repeats = repeats
text-tests-cut = cut short
text-weighing = Per watt, price and weight
text-timeline = On one axis of time
text-timeline-caption = Lines through all rows: what happened, numbered as in the list. Shaded: run-up, and what came after the measured part. Every row but latency and memory begins at zero; those two are logarithmic. A window in which some job of the load completed no operation has no sum and is omitted; with few and long operations most windows are.
text-timeline-iops = Operations a second
text-timeline-luns = Operations a second of each LUN
text-timeline-bytes = Throughput
text-timeline-latency = Latency
text-timeline-shares = Who used the CPU time, % of the whole machine
text-timeline-memory = Memory
text-timeline-queue = Operations in flight at the disks, mean
text-timeline-busy = Time in which the disks were busy, %
text-together = all together
text-reads = reads
text-writes = writes
text-trims = trims
text-load = load
text-controllers = controllers
text-others = other programs and the kernel
text-machine-used = in use on the machine
text-pool-disks = disks of the pool
text-lun-devices = devices of the LUNs
text-happened = What happened
text-repeat-word = repeat
text-cpu = CPU time, % of the whole machine
text-each-cpu = of each CPU
text-each-lun = of each LUN
text-each-cpu-busy = Busy time of each CPU, %
text-lowest = lowest
text-mean = mean
text-highest = highest
text-busy = busy
text-user = user
text-system = kernel
text-iowait = waiting for disks
text-steal = taken by the hypervisor
text-slope = growth by the second
text-time-goes = Where the time goes
text-not-seen = Not seen
text-flame-caption = After all repeats the instrument was started once more under perf; this run is in no figure. The width of a box is its share of the samples; the functions that it called are above it. Orange: the kernel; other colours: programs.
text-flame-timer = The samples come from a timer: those from code with interrupts disabled are attributed to the function that enables them again.
text-function = Function
text-in-itself = In itself
text-with-callees = With what it calls
text-part = Part
text-system-call = System call
text-share = Share
text-time = Time
text-calls = Calls
text-call-errors = Errors
text-each-call = Each
text-calls-caption = Counted by strace, after all repeats, over the whole command. strace slows every call, so shares are more reliable than times; the time of a call includes waiting.
text-sources = Published sources
text-method = Method
text-method-point = A figure is the median of the valid repeats. Spread is 1.4826 × the median absolute deviation over the median. The 95 % interval of a median comes from order statistics and requires six repeats.
text-method-verdict = Runs made one after the other are compared by the logarithms of their repeats, or of whole sessions where both sides have several. Better and worse require two conditions. A t-test rejects that the difference is δ or less: q < 0.05, corrected by Benjamini and Hochberg over the main metrics of the table. And the whole 95 % interval of the ratio lies beyond δ. Same: the whole interval lies within δ. All else is unresolved. δ is 1 %, or what the suite sets. The change is the ratio of geometric means; the medians beside it show the level.
text-method-pairs = The two sides of one run were measured in turns, the order within each pair drawn at random. The logarithm of each pair's ratio is one number, so whatever disturbs both sides alike is in none of them. Better and worse require two conditions. A t-test of these numbers rejects that the difference is δ or less: q < 0.05, corrected by Benjamini and Hochberg over the main metrics of the table. And the whole 95 % interval of the ratio lies beyond δ. Same: the whole interval lies within δ. All else is unresolved. δ is 1 %, or what the suite sets.
text-method-invalid = A repeat is invalid if its verification failed or a gate closed: throttling, CPU time taken by the hypervisor or by other programs, swapping, a falling clock. Invalid repeats are stored and shown, but never counted. Outliers are marked by Tukey's rule and never dropped.
text-legend-turns = Solid marks ▲ ▼ ≈: measured in turns. Hollow marks △ ▽ ~: one after the other, so what changed on the machine meanwhile counts as a difference. `--ab` measures in turns.
text-method-charts = Counters are drawn as their growth per second, with a gap where a counter was reset; gauges unchanged; of metrics of each CPU the lowest, the mean and the highest. Of many samples the first, the last, the lowest and the highest of each part of the line are drawn, so every peak is visible; zooming in draws all samples.
text-questions = What to ask of every benchmark
text-questions-source = The list of questions is Brendan Gregg's ("Evaluating the Evaluation: A Benchmarking Checklist", 2018); the answers come from the data of this page.
text-ask-double = Why is it not twice as fast?
text-ask-limits = Is the figure somebody else's limit, or more than is possible?
text-ask-errors = Were there errors?
text-ask-reproduce = Will it come out the same again?
text-ask-matter = Does it matter?
text-ask-happened = Did it happen at all?
text-no-profile = No profile was made; `stend run --profile` shows which functions take the time.
text-see-profiles = Profiles show which functions take the time; they are shown with their scenarios.
text-no-loader = No instrument of these runs has a load generator beside what it measures, or it does not report its share of the CPU time.
text-below-ceilings = No figure is above its ceiling.
text-one-boot = Sessions of one boot cannot show what changes between boots; a session after a reboot would.
text-none-sure = No difference of a main metric is certain.
text-not-compared = No other run is compared here, so there are no verdicts.
text-how-computed = How figures and verdicts are computed
text-same-machine = no difference was found in hardware or software, so this is one machine at different times
text-same-machine-in-turns = the same machine with two configurations, measured alternately; the notes list the settings of each side
text-show-only = Only
text-only-better = better
text-only-worse = worse
text-only-same = the same
text-only-unresolved = unresolved
text-rows-shown = Rows shown:
text-none-shown = No row has these words and such a verdict.
text-why = Verdict and reason
text-histogram = How the values are distributed
text-histogram-caption = The number of valid repeats in each bin of the axis.
text-gate-steal = Taken by the hypervisor
text-gate-foreign = Used by others
text-gate-fall = Clock fell by
text-gate-swapping = Pages swapped
text-gate-throttling = Throttled, times
text-gates-caption = With ≤: a repeat beyond this limit is invalid. Shares are of the CPU time of the whole machine; less than two ticks of the kernel on each CPU are ignored.
text-close = Close
text-copy = Copy
text-job-file = The job file named in the command was removed after the repeat. This copy is recreated from the stored run; ${"{"}LUN1{"}"} and so on in it are the LUNs:
text-copied = Copied
text-series = What happened meanwhile
text-on-paper = Drawings of single metrics are not printed; the file shows them.
text-moment = Moment
text-zoom-in = Closer
text-zoom-out = Farther
text-earlier = Earlier
text-later = Later
text-whole = Whole axis
text-axis-hint = All drawings of a run have one axis of time. Point at it, or move the slider with the arrow keys, for the values at a moment; drag across a drawing to zoom in. Runs beside each other show the same part of the same repeats.
text-none-of-these = This run has none of the repeats that the other one shows, so its whole axis is shown.
text-generated = Written by stend
text-open-on-paper = On paper are those scenarios that were open when the page was printed.
text-language = English
text-of-languages = Language

# Notes on a table, without a full stop.

note-scaled = { $run }: { $target ->
    [true] durations, and sizes that are not the target's,
   *[false] sizes and durations
} are scaled by { $factor }; these are not the suite's own parameters
note-loaded = { $run }: { $apart ->
    [true] { $servers } and the load ran on processors of their own, a half each of { $processors }
   *[false] { $servers } and the load shared { $processors } { $processors ->
        [one] processor
       *[other] processors
    }, so operations per second are a lower bound; with at least 4, each gets half
}
note-target = { $run }: target: { $target }
note-in-pairs = { $run }: the two sides were measured alternately and are compared pair by pair, so slow drift affects both alike
note-few-repeats = { $run }: { $scenarios ->
    [one] { $scenarios } scenario asks for
   *[other] { $scenarios } scenarios ask for
} fewer than { $least } repeats, which gives no verdict
note-unverified = { $run }: the work of { $scenarios ->
    [one] { $scenarios } scenario
   *[other] { $scenarios } scenarios
} cannot be verified
note-unfit = { $run }: measured although the machine was unfit: { $conditions }
note-left-running = { $run }: left processes running; they were ended, and their work is in no figure: { $scenarios }
note-unprepared = { $run }: preparation failed, and the scenarios after it were measured without it: { $scenarios }
note-not-steady = { $run }: never reached a steady state, so these figures have no verdict: { $scenarios }
note-loader-bound = { $run }: the load generator took more than { PERCENT($most) } of the machine's CPU time, so these figures may be its own limit: { $scenarios }
note-emulated = { $run }: emulated by { $emulator }: not compared. Its checks show that the code is correct; its times are not those of a machine
note-public = { $run }: exported for publication: data that may identify its machine or owner, and part of the kernel's command line, were omitted; they are compared with no other run
note-unfinished = { $run } is not finished{ $may_go_on ->
    [true] ; resume it with `stend resume { $run }`
   *[false] {""}
}
note-other-version = { $run }: made by stend { $version }, and { $base } by { $base_version }
note-other-work = no verdict on { $scenarios }, which { $scenarios_count ->
    [one] does
   *[other] do
} other work in { $run } than in { $base }: { $differences }
note-other-place = the same work in another place in { $run } than in { $base }: { $difference }; this is { $scenarios }
note-other-file = { $file } has other contents in { $run } than in { $base }; it is part of { $scenarios }
note-other-direction = { $metric } is better { $better ->
    [higher] higher in { $base } and lower in { $run }
   *[lower] lower in { $base } and higher in { $run }
}; verdicts follow { $base }: { $scenarios }
note-other-build = { $instruments }: another build in { $run } than in { $base }, and verdicts compare it too: { $differences }
note-several-builds = { $run }: rebuilt in the middle of the run, so its repeats are not all of one build: { $instruments }
note-pooled = { $run }: { $runs_count } runs of one machine taken together as sessions of one: { $runs }
note-filtered = only the figures that the filter `{ $filter }` selects; the correction for many comparisons is over these figures
note-only-rows = { $shown ->
    [0] no row is shown: { $of ->
        [1] the one row is not
       *[other] none of { $of } rows is
    }{" "}
   *[other] { $shown } of { $of ->
        [one] { $of } row
       *[other] { $of } rows
    } { $shown ->
        [one] is
       *[other] are
    } shown: what is{" "}
}{ $only ->
    [better] better
    [worse] worse
    [significant] better or worse
    [same] the same
   *[unresolved] unresolved
}
note-nothing-published = { $references } { $references_count ->
    [one] has
   *[other] have
} no figure that is compared here, and no column
note-no-ratio = no verdict in { $run } beside { $base } on { $figures }: a value is zero or negative, and has no ratio
as-it-is = the machine as it is
and = and
and-more = and { $count } more
in-quotes = "{ $text }"
no-value = none

# Why there is no figure.

lack-skipped = skipped
lack-invalid = invalid
lack-failed = failed
lack-not-reported = not reported
lack-not-yet = not measured yet
lack-remedy = fix it with: { $remedy }
not-reported = the instrument did not report all of { $value }
no-controllers = no controllers with readable CPU time between the load and the storage

# Sentences of the page, tables and histories.

summary = { $measured ->
    [one] { $measured } scenario
   *[other] { $measured } scenarios
} measured on { $machine }{ WITH(", ", $moment) }{ $skipped ->
    [0] {""}
    [1] ; 1 has no figure
   *[other] ; { $skipped } have no figure
}{ $why ->
    [none] {""}
   *[other] {" "}({ $skipped ->
        [1] {""}
       *[other] most often{" "}
    }{ $why })
}{ $few ->
    [0] {""}
    [1] ; 1 has fewer than { $least } valid repeats
   *[other] ; { $few } have fewer than { $least } valid repeats
}; { $sessions }.
to-settle = about { $numbers } { $counted ->
    [pairs] pairs
    [sessions] sessions of each side
   *[repeats] repeats of each side
} would settle it
drawn = lowest { $lowest }, highest { $highest }; { $samples } samples{ WITH(", ", $points, " drawn") }
merged-of = { $count } in { $repeats ->
    [one] { $repeats } repeat
   *[other] { $repeats } repeats
}
along = { $metric } by { $axis }
curves-left-out = Curves not drawn, because there are too many: { $count }.
axes = Down: { $down }; across: { $across }
grade = { $grade ->
    [in_turns] in turns
    [sessions_in_turns] sessions in turns
    [one_after_the_other] one after the other
   *[published] published numbers
}
grade-one-session = one session each: a difference may come from the hour
grade-emulated = emulated by { $emulator }: conformance only
sessions = { $sessions ->
    [1] one session
   *[other] { $sessions } sessions{ $boots ->
        [1] , no boot seen in between
       *[other] {" "}over { $boots } boots
    }
}

history-title = { $scenario }: { $metric }, { $better ->
    [higher] more is better
   *[lower] less is better
}
runs = { $runs ->
    [one] { $runs } run
   *[other] { $runs } runs
}
history-subject = { $machine } · hardware { $hardware } · { runs }{ WITH(", ", $first) }{ WITH(" … ", $last) }
history-change = { $size } from { $at } on, with run { $run }: from { $before } to { $after } (p { $p })
history-no-cause = nothing of the fingerprint changed between { $before } and { $after }
history-near = but near it, between { $before } and { $after }: { $what }
history-build = build, { $what }
history-no-run = No run has a valid repeat.
history-too-few = Changes of level are searched for only with ten runs or more: { $more ->
    [one] { $more } run more is
   *[other] { $more } more runs are
} needed.
history-without-ratio = Changes of level are not searched for: some value is not above zero.
history-no-change = The level never changed.
history-rule = ▲ better, ▼ worse. A change lasts for two runs or more and has p < 0.001 and more than 2 %; its levels are the means of the medians on either side.
history-other-machine = Left out: { $runs ->
    [one] { $runs } run of other hardware (--machine NAME shows it)
   *[other] { $runs } runs of other hardware (--machine NAME shows them)
}.
history-other-work = Left out: { runs } in which the scenario of this name did other work than in the newest.
history-emulated = Left out: { runs } that an emulator made.
history-two-sides = Left out: { runs } of two sides, which differ on purpose.
history-no-value = Left out: { runs } without a valid repeat.

clocks-agree = clocks agree to { $sure }
clocks-apart = clocks compared to { $sure }: the machine's was { $apart } { $way ->
    [ahead] ahead
   *[behind] behind
}; moments are converted to this machine's time
clocks-set = { $clocks }; it was set by { $step } meanwhile, which affects no measured time
clocks-drift = { $clocks }; it { $way ->
    [gained] gained
   *[lost] lost
} { $by } in { $within }
clocks-once = { $clocks }; they were not compared again at the end

part-user = programs' own code
part-copy = kernel: copying
part-pages = kernel: page allocation
part-memory-cgroup = kernel: memory cgroup
part-mappings = kernel: page faults and mappings
part-scheduling = kernel: scheduling
part-locks = kernel: locks
part-entry = kernel: entry and exit
part-pipes = kernel: pipes
part-network = kernel: network
part-files = kernel: files and disks
part-other-kernel = kernel: other
stack-samples = { $samples } samples { $stretch ->
    [measured] of the measured part
   *[whole] of the whole command, including its preparation
}, by { $event }

drawings-head = Drawings of { $runs }
drawings-by = Written by `{ $command }`.
drawings-beside = Not requested: { $kinds }; `--drawings { $option }` makes those that have data.
drawings-none = No { $kind }: { $why }.
drawings-nothing = There is nothing to draw.
none-forest = no run was compared with another
none-published = there are no published figures of these scenarios
none-sweeps = no family of scenarios has two axes of numbers, or a throughput with its latency
none-repeats = no repeat has a figure
none-latencies = no instrument of these runs records the latency of single operations, as fio does; those of stend-probe time whole repeats
none-timelines = no scenario loads storage
none-flames = no stacks were sampled; `stend run --profile` samples them if perf is available
none-samples = no samples were recorded

weighing-meaning = Rates divided by watts, price or weight, times multiplied by them. A factor above 1: better than the base, or the base better than a published machine. Watts, prices and weights are single numbers, so there is no verdict
weighing-watt = Per watt: { $of }
weighing-kilogram = Per kilogram: { $of }
weighing-money = Per price in { $currency }: { $of }
weighing-measured = { $title }: { $least } … { $most } W, { $of }, measured while { $scenarios ->
    [one] { $scenarios } scenario
   *[other] { $scenarios } scenarios
} ran; of each the median of its repeats
weighing-given = { $title }: { $amount }, { $of } ({ $source })

# Tests of a project's own suite.

tests-title = Tests: { $scenario }
tests-sentence = { $scenario }: { $said }.
tests-alone = { $passed } passed, { $failed } failed{ $flaky ->
    [0] {""}
   *[other] , { $flaky } flaky
}, { $skipped } skipped
tests-cut = the suite did not run to its end in { $cut } of { $repeats ->
    [one] { $repeats } repeat
   *[other] { $repeats } repeats
}
tests-none-fails-here = { $count ->
    [one] the one test that passes on { $base } does not fail on { $run }
   *[other] none of the { $count } tests that pass on { $base } fails on { $run }
}
tests-fails-here = { $count ->
    [one] { $count } test that passes on { $base } fails on { $run }
   *[other] { $count } tests that pass on { $base } fail on { $run }
}
tests-lost-here = { $count ->
    [one] { $count } was not reached on { $run }, where the suite ended early
   *[other] { $count } were not reached on { $run }, where the suite ended early
}
tests-flaky = { $count ->
    [one] { $count } sometimes fails
   *[other] { $count } sometimes fail
}
tests-skipped-here = { $count ->
    [one] { $count } is skipped only on { $run }
   *[other] { $count } are skipped only on { $run }
}
tests-skipped-in-base = { $count ->
    [one] { $count } is skipped only on { $base }
   *[other] { $count } are skipped only on { $base }
}
tests-passes-here = { $count ->
    [one] { $count } passes only on { $run }
   *[other] { $count } pass only on { $run }
}
tests-only-in-base = { $count ->
    [one] { $count } exists only on { $base }
   *[other] { $count } exist only on { $base }
}
tests-only-here = { $count ->
    [one] { $count } exists only on { $run }
   *[other] { $count } exist only on { $run }
}
tests-failing-in-both = { $count ->
    [one] { $count } fails on both
   *[other] { $count } fail on both
}
tests-list-failing = Failed
tests-list-fails-here = Pass on { $base }, fail on { $run }
tests-list-lost-here = Pass on { $base }, not reached on { $run }
tests-list-flaky = Sometimes fail
tests-list-skipped-here = Run on { $base }, skipped on { $run }
tests-list-skipped-in-base = Skipped on { $base }, run on { $run }
tests-list-passes-here = Fail on { $base }, pass on { $run }
tests-list-only-in-base = Only on { $base }
tests-list-only-here = Only on { $run }
tests-more = and { $count } more; the JSON has all
tests-passes = passes
tests-fails = fails
tests-skipped = skipped
tests-failed-of = failed in { $failed } of { $ran }
tests-failed-of-on = failed in { $failed } of { $ran } on { $run }

# Parts of the fingerprint, and how two of them differ.

fingerprint-architecture = architecture
fingerprint-processor = processor
fingerprint-vendor = maker
fingerprint-features = instruction sets
fingerprint-cores = cores
fingerprint-threads = threads
fingerprint-sockets = sockets
fingerprint-memory-bytes = memory
fingerprint-caches = caches
fingerprint-disks = disks
fingerprint-board = board
fingerprint-kernel = kernel
fingerprint-kernel-build = kernel build
fingerprint-command-line = kernel command line
fingerprint-numa-nodes = NUMA nodes
fingerprint-libc = C library
fingerprint-compiler = compiler
fingerprint-compiler-flags = compiler flags
fingerprint-system = system
fingerprint-microcode = microcode
fingerprint-virtualization = virtualization
fingerprint-emulator = emulator
fingerprint-target = target
fingerprint-flags = flags
fingerprint-sources = sources
fingerprint-version = version
fingerprint-instrument = instrument
fingerprint-metrics = metrics
fingerprint-verification = verification
fingerprint-steady = steady
fingerprint-rate = rate
fingerprint-settings-governor = governor
fingerprint-settings-boost = boost
revision-of = processor's { $name }
target-of = target's { $name }
version-of = version of { $name }
path-of = path of { $name }
digest-of = SHA-256 of { $name }
mitigation-of = mitigation { $name }
mitigation-not-listed = not listed
mitigation-on = on
mitigation-off = off
mitigation-not-affected = not affected
lost-values = lost { $values }
gained-values = gained { $values }
ids = hardware { $hardware } · software { $software }
guest-on = guest by { $accelerator } on { $processor }
guest-of = guest's { $name }
emulated-by = emulated by { $emulator }: conformance only
ram = { $size } RAM
rotational = (rotational)
governor-is = governor { $value }
boost-is = boost { $value }
offer = { $there ->
    [yes] { offered }
   *[no] no { offered }
}
offered = { $name ->
    [af_alg] AF_ALG
    [ktls] kTLS
   *[other] { $name }
}
mitigations = { $on } mitigations on{ WITH(", off: ", $off) }
sockets = { $count ->
    [one] { $count } socket
   *[other] { $count } sockets
}
cores = { $count ->
    [one] { $count } core
   *[other] { $count } cores
}
threads = { $count ->
    [one] { $count } thread
   *[other] { $count } threads
}
numa-nodes = { $count ->
    [one] { $count } NUMA node
   *[other] { $count } NUMA nodes
}

# How a run stands to the base.

standing = { $said }.
standing-by-main = { $said } (by each scenario's main metric).
standing-same = { $runs ->
    [1] { $run } and { $base } are the same on
   *[other] Each of { $run } is the same as { $base } on
} { on-all }
standing-undiffering = { $runs ->
    [1] { $run } against { $base }
   *[other] Each of { $run } against { $base }
}: { $same ->
    [0] no difference is certain
   *[other] the same on { $same } of { $all } scenarios
}; { $unresolved }
standing-on-all = { $run } is { $way } than { $base }{ $all ->
    [1] {""}
   *[other] {" on "}{ on-all }
}
standing-first = { $run } is { $way } than { $base } on { $count } of { $all } scenarios
standing-second = { $way } on { $count }
part = { $work ->
    [cipher] ciphers
    [copy] copying memory
    [fizzbuzz] FizzBuzz
    [openssl] OpenSSL
    [pipe] pipes
    [switch] switching contexts
   *[other] { $work }
}: { $said }
part-on-all = { $way }{ $all ->
    [1] {""}
    [2] {" on both"}
   *[other] {" "}on all { $all }
}
part-first = { $way } on { $count } of { $all }
same-on = the same on { $count }
unresolved-on = { $count } unresolved{ WITH(" (a difference of ", $visible, " would have been seen)") }
settle-all = { $count ->
    [one] about { $numbers } { $counted } would settle it ({ $option })
   *[other] about { $numbers } { $counted } would settle them ({ $option })
}
settle-least = a verdict takes { $numbers } { $counted } at least ({ $option })
on-average = { $count ->
    [1] {""}
   *[other] on average{" "}
}{ $change }{ WITH(" (", $interval, ")") }
on-all = { $all ->
    [1] this scenario
    [2] both scenarios
   *[other] all { $all } scenarios
}
faster = faster
the-same = the same
slower = slower
mean-label = geometric mean of { $count }
mean = { $run }: { $ratio }{ WITH(" (", $interval, ")") }, the geometric mean over { $count } scenarios, where more is better{ WITH("; not in it: ", $missing) }
nothing-between = Nothing can be said between { $runs ->
    [1] { $run } and { $base }
   *[other] { $base } and any of { $run }
}: { $why }
nothing-in-common = they have no scenario in common
nothing-in-both = no scenario has a figure in both
nothing-of-emulators = an emulator's times are not a machine's speed
nothing-of-other-work = no scenario did the same work in both; the notes say in what it differs
nothing-judged = no figure of both can be judged; the notes say why
side-as-it-is = as it is
side-as-it-is-quoted = “as it is”
of-ceiling = { $share } of { $scenario }
of-multiple = { $factor }, { $share } of { $scenario }

# Why a verdict is what it is.

no-verdict = No verdict: the two are not to be compared, as the notes above the table say.
reason = { $verdict ->
    [better] Better than the base: { reason-significant }
    [worse] Worse than the base: { reason-significant }
    [same] The same as the base for all that matters: { reason-size }. The whole interval lies within { reason-floor }.
   *[unresolved] Insufficient evidence{ $size ->
        [none] . { reason-unresolved }
       *[other] : { reason-size }. { reason-unresolved }{ WITH("; a difference of ", $visible, " would have been seen") }{ WITH("; ", $more) }
    }.
}
reason-size = { $size }{ WITH(", 95 % interval ", $interval) }
reason-chance = { WITH(" (q ", $q, ")") }
reason-floor = the { $floor } that do not matter
reason-significant = { reason-size }. This is unlikely to be chance{ reason-chance }; the whole interval lies beyond { reason-floor }.
reason-unresolved = { $reason ->
    [too-few] A verdict requires five pairs, or five repeats on each side
    [not-finite] A value is not a finite number, so there is nothing to test
    [not-positive] A value is zero or negative, so there is no ratio to test
    [unequal-pairs] Not every repeat of one side has its partner on the other
    [crosses-floor] There is a difference, but it may be less than { reason-floor }
    [not-significant] It is not certain that the difference is more than { reason-floor }{ reason-chance }
   *[no-test] No test could be made
}

# Beside what was published.

not-comparable = { $run } can be compared with runs of the same kind, and with no published machine: { $why ->
    [scaled] it was scaled down
    [memory] the disks of its target were files in memory
   *[files] the disks of its target were files
}.
beside-published = { $publication }: { $factors }{"\u00A0"}× { $machine }{ $machines ->
    [one] {""}
   *[other] , the best of its { $machines } machines
}{ $scenarios ->
    [one] {""}
   *[other] {" "}({ $scenarios } scenarios)
}.
published-in-words = { $machine }, { $scenario }: “{ $words }”
alone = There is nothing to hold { $run } against yet; its own repeats differ by { $middle } on a typical scenario, and by { $most } at most (“{ $scenario }”).

# What faults did.

rebuilt = { $deed } in { $time }{ WITH("; btrfs counted before that: ", $errors) }
no-dip = { $fault }: no window below 90 % of { $before }
dip = { $fault }: from { $before } down to { $lowest } ({ $depth } less){ WITH(", which began only after \"", $after, "\"") }, { $time ->
    [none] not back before the load ended
   *[other] back after { $time }
}

# Targets, and what their figures say nothing of.

target = { $kind ->
    [file] files ({ $place })
    [device] { $place }
   *[pool] { target-disks }{ WITH(" of ", $disk_size) } ({ $place }), { target-layout }
}, { $luns ->
    [one] { $luns } LUN
   *[other] { $luns } LUNs
}{ WITH(" of ", $lun_size) }{ $checksums ->
    [true] {" "}with checksums
   *[false] {""}
}, { $transport }{ $controllers ->
    [0] {""}
    [one] {" "}from { $controllers } controller
   *[other] {" "}from { $controllers } controllers
}
target-disks = { $disks } disks
target-work = the directory for runs' files
target-layout = { WITH($manager, " ") }{ $layout }
target-threads = threads { $value }
target-filters = filters { $value }
target-processors = processors { $value }
target-scheduler = scheduler { $value }
target-mount-options = mount options { $value }
target-in-memory = its disks are files in memory, so this measures the software path, not flash
target-in-files = its disks are files on { $kind } and what caches lie below cannot be seen, so this measures the software path, not flash
target-zfs = ZFS reads through its cache in memory, whatever "direct" says
target-iscsi = tgtd reads and writes through the page cache, whatever "direct" says
target-iscsi-by-nbd = between fio and tgtd stands qemu-storage-daemon, which speaks iSCSI: the whole chain is measured, and this part of it may be its bound; its CPU time is the load's, not the controllers'
target-nfs = the NFS server reads and writes through the page cache, whatever "direct" says
target-nbd = nbdkit reads and writes through the page cache, whatever "direct" says
target-works = what the pool does is CPU time of others than the load, so the gate for other programs' CPU time is off
target-stood = it stood before the run, as { $name }, so its LUNs hold what was written to them earlier
target-not-filled = the LUNs were not written over first, and what was never written is read at the speed of memory
not-in-runs = not in { $runs }: { $names }
differing = { $key }
evidence-ratio = ratio { $figure }
evidence-q = q { $figure }
evidence-floor = floor { $figure }
controller = controller { $number }
server-loaded = server { $server }

# What the page is of.

title-with-suite = { $of } – { $suite }
title-of-sides = A/B on { $machine }: “{ $b }” against “{ $a }”
title-of-two = { $other } against { $base }
title-of-several = { $base } and { $count } others
clocks-of-session = { $machine }{ WITH(", session ", $session) }: { $clocks }
screen-of = The screen of { $machine } at the end
clocks-carried = { $machine }: measured without a link, and carried here; moments are by its own clock

# Answers to what should be asked of every benchmark.

busy = On { $busy } of { $all ->
    [one] { $all } scenario
   *[other] { $all } scenarios
} the load kept at least one processor busy all the time: what that gets done, waiting for memory included, is the limit there.
waiting-elsewhere = Elsewhere it waited, or others had the processor, and it had less than one processor's time: { $scenarios }.
waiting = On every scenario the load waited, or others had the processor, and it had less than one processor's time: { $scenarios }.
beside-ceilings = Beside what the suite names as their ceilings: { $shares }.
beyond-ceilings = More than their ceiling, which should make you doubt one of the two: { $shares }.
loader = The load generator took at most { $share } of the machine's CPU time ({ $scenario }); beyond { $limit } a figure may be the generator's own limit, and the notes above the table say so.
repeats-checked = Repeats, warm-ups included: { $all }. Verified and right: { $passed }; wrong: { $wrong }; could not be verified: { $unchecked }; measured nothing: { $failed }.
repeats-invalid = { $invalid ->
    [one] { $invalid } invalid repeat
   *[other] { $invalid } invalid repeats
} not counted; each scenario says why.
repeats-of-each = { $many } { $most ->
    [one] valid repeat
   *[other] valid repeats
} of each scenario; { $sessions }.
restless = From repeat to repeat a typical figure of the base differs by { $middle }, the most restless one by { $most } ({ $scenario }).
your-work = Only you know whether this is your work: { $suite }.
differences-below = Differences below { $floor } are taken for none.
differences-sure = Of the sure ones of main metrics, { $count } in number, the smallest is { $smallest } and the largest { $largest }.
differences-of-others = Of other metrics { $count ->
    [one] { $count } difference is
   *[other] { $count } differences are
} sure; the table shows them all.
operations = { $shown } operations
work-done = The valid repeats did { $done } in { $time }; each scenario shows how that was verified.
samples-recorded = Beside them { $shown } samples of the machine and the load were recorded; they are shown with their scenarios above.

# How figures are written. Units stand here with what they are called, and so do prefixes.

decimal-sign = .
unit-space = {" "}
units =
    op/J = op/J, B/J = B/J, B/CPU-s = B/CPU-s, op/CPU-s = op/CPU-s, cycles/B = cycles/B, requests/s = requests/s, CPU-s = CPU-s, cycles = cycles, cores = cores, B/s = B/s, op/s = op/s, Hz = Hz, IOPS = IOPS, B = B,
    /s = /s, W = W, J = J, s = s, min = min, k = k, M = M, G = G, T = T, k/s = k/s, M/s = M/s, G/s = G/s, T/s = T/s
prefixes = Ki = Ki, Mi = Mi, Gi = Gi, Ti = Ti, k = k, M = M, G = G, T = T, m = m, µ = µ, n = n

# What is sampled while a repeat is made, by the last part of the metric's name.

sampled-available-bytes = Available memory
sampled-free-bytes = Free memory
sampled-cached-bytes = Page cache
sampled-dirty-bytes = Dirty memory
sampled-total-bytes = Memory in all
sampled-used-bytes = Swap in use
sampled-in-pages = Pages swapped in
sampled-out-pages = Pages swapped out
sampled-memory-bytes = Memory
sampled-cpu-ns = CPU time
sampled-user-ns = CPU time in user mode
sampled-system-ns = CPU time in the kernel
sampled-throttled-ns = Time throttled
sampled-reads = Reads
sampled-writes = Writes
sampled-read-bytes = Data read
sampled-written-bytes = Data written
sampled-in-flight = Operations in flight
sampled-queue-ns = Queue depth
sampled-busy-ns = Busy time
sampled-received-bytes = Data received
sampled-sent-bytes = Data sent
sampled-received-packets = Packets received
sampled-sent-packets = Packets sent
sampled-cpu-some-ns = Some tasks waited for a CPU
sampled-cpu-full-ns = All tasks waited for a CPU
sampled-io-some-ns = Some tasks waited for input or output
sampled-io-full-ns = All tasks waited for input or output
sampled-memory-some-ns = Some tasks waited for memory
sampled-memory-full-ns = All tasks waited for memory
sampled-1m = Load average over a minute
sampled-context-switches = Context switches
sampled-frequency-hz = Clock frequency
sampled-throttles = Slowed down by heat
sampled-celsius = Temperature
sampled-joules = Power
sampled-watts = Power

# The pages of `stend serve`.
server-language = English
server-settings = Settings
server-sign-in = Sign in
server-sign-out = Sign out
server-token = One-time token
server-wrong-token = This token is wrong or was used before. stend serve prints a new one each time it starts.
server-problem = This did not work
server-back = Back to the first page
server-nothing-there = There is no such page
server-machines = Machines
server-any-with = any with
server-machine = Machine
server-idle = idle
server-running = running
server-waiting = waiting
server-stopping = stopping after this repeat
server-finished = finished
server-failed = failed
server-stopped = stopped
server-start-a-run = Start a run
server-suite = Suite
server-label = Label, for one run only
server-repeats = Repeats
server-sessions = Sessions of each machine or state
server-session = Session
server-scale = Scale of sizes and durations
server-even-if-unfit = Measure even if the machine is busy
server-sides = Compare two configurations
server-side-a = First side
server-side-b = Second side
server-only = Only scenarios whose name contains
server-order = Order in full
server-own-work = Own suite, job file, commands or rig
server-own-kind = In place of the suite
server-own-suite = a suite (TOML)
server-own-job-file = a job file of fio
server-own-commands = commands to time, one a line
server-own-text = Text
server-from-file = From a file
server-prepare = Before each repeat of a command
server-rig-text = Rig that is set up for the run and removed (TOML)
server-states = Measure two states in turns
server-states-how = Of one machine, such as two kernels. Each command brings the machine into its state, may reboot it, and does nothing where the machine is in it already. Five sessions of each unless you say otherwise.
server-state-name = Name of state
server-state-command = Command of state
server-own-shown = This starts what is not part of stend, on the machine and as the user that measures there. Look at it; then start it.
server-makes-no-sense = it makes no sense:
server-variables = Variables of the suite
server-start = Start
server-queue = Queue
server-no-jobs = Nothing has been started here yet.
server-run = Run
server-state = State
server-action = Action
server-stop = Stop
server-go-on = Resume
server-results = Results
server-no-runs = There are no runs yet.
server-compare = Compare
server-compare-picked = Compare the selected runs
server-valid = Valid
server-report = Report
server-scenario = Scenario
server-value = Value
server-outcome = Outcome
server-warmup = warm-up
server-counts = counts
server-does-not-count = does not count
server-log = Log
server-token-for = A token gives a program the API under /api/v1.
server-token-once = This token is shown only once:
server-make-token = Create a token
server-pages = Pages
server-schedule = Schedule
server-journal = Journal
server-access = Users and tokens
server-name = Name
server-password = Password
server-wrong-password = This name and password do not belong together.
server-too-often = Too many attempts. Try again in { $seconds ->
    [one] { $seconds } second
   *[other] { $seconds } seconds
}.
server-priority = Priority, -10 to 10
server-cron = Repeat at (cron), on one machine
server-one-run-a-time = A line of the schedule has one machine and one session.
server-all-of-order = All runs of this order
server-preview = Show the plan
server-plan = Plan
server-schedule-of = Times are by this machine's clock: minute, hour, day of the month, month, day of the week.
server-no-lines = Nothing is scheduled.
server-when = When
server-next = Next
server-never = never
server-added-by = Added by
server-remove = Remove
server-all = All
server-entry = Entry
server-put-back = Put back
server-category = Category
server-runs = Runs
server-verdicts = Verdicts
server-disks = Disks
server-sensors = Sensors
server-users = Users
server-what = What
server-no-entries = There are no entries.
server-earlier = Earlier
server-tokens = Tokens
server-user = User
server-role = Role
server-viewer = viewer
server-operator = operator
server-admin = admin
server-ends = Valid until
server-end = Revoke
server-days = Days
server-since = Since
server-own-password = Your password
server-old-password = Current password
server-new-password = New password, at least 12 characters
server-change = Change
server-password-is-changed = Your password is changed. Your other sessions have ended.
server-password-once = This password is shown only once. The user can change it after signing in.
server-no-users = There are no users yet. The first one must be an admin; from then on people sign in by name and password.
server-reset-password = New password
server-add-user = Add a user
server-nobody = the server's owner
server-journal-server-started = The server { $detail } started at { $about }
server-journal-server-ended = The server at { $about } ended
server-journal-run-queued = { $who } queued run { $about } of { $detail }
server-journal-run-began = Run { $about } of { $detail } began
server-journal-run-finished = Run { $about } of { $detail } finished
server-journal-run-stopped = { $who } stopped run { $about } of { $detail }
server-journal-run-failed = Run { $about } failed: { $detail }
server-journal-run-resumed = { $who } resumed run { $about } of { $detail }
server-journal-run-taken-over = Run { $about } was taken over from { $detail }
server-journal-archive-mended = The file of run { $about } was damaged on { $detail }, and has been taken from another node
server-journal-schedule-added = { $who } scheduled { $detail } at { $about }
server-journal-schedule-removed = { $who } removed { $detail } at { $about } from the schedule
server-journal-schedule-put-back = { $who } put entry { $detail } back: the schedule at { $about }
server-journal-schedule-refused = Not queued by the schedule: { $about }: { $detail }
server-journal-run-worse = Run { $about } is worse than { $detail }
server-journal-rule-refused = Not judged: { $about }: { $detail }
server-journal-disk-failing = Disk { $about } is failing: { $detail }
server-journal-disk-healthy = Disk { $about } is healthy again: { $detail }
server-journal-sensor-hot = { $about } is hot: { $detail }
server-journal-sensor-cool = { $about } has cooled down: { $detail }
server-journal-telling-failed = Not delivered to { $about }, trying again: { $detail }
server-journal-telling-given-up = Given up for { $about }, entries: { $detail }
server-journal-signed-in = { $who } signed in from { $about } as { $detail }
server-journal-sign-in-refused = Wrong password for { $about }, from { $detail }
server-journal-user-added = { $who } added the user { $about }, { $detail }
server-journal-user-removed = { $who } removed the user { $about }
server-journal-role-changed = { $who } made { $about } { $detail }
server-journal-user-put-back = { $who } put entry { $detail } back: the user { $about }
server-journal-password-changed = { $who } changed the password of { $about }
server-journal-token-made = { $who } created the token "{ $about }", { $detail }
server-journal-token-ended = { $who } revoked the token "{ $about }"
server-journal-update-offered = { $about } offered { $detail } to all nodes
server-journal-node-updated = { $about } is { $detail } now
server-journal-update-failed = { $about } could not be updated: { $detail }
server-journal-node-joined = The node { $about } joined the fleet
server-journal-node-left = The node { $about } left the fleet
server-journal-invited = An invitation to the fleet was made for { $about }
server-journal-agent-joined = The agent { $about } joined the fleet
server-journal-agent-revoked = The agent { $about } was revoked
server-progress = Progress
server-references = Published machines
server-references-of = Figures that articles published. A reference is compared with a run where both measured the same.
server-compare-newest = Compare with the newest run
server-rigs = Rigs
server-rigs-of = Storage that is set up on this machine, to be loaded by runs, and virtual machines to measure in.
server-rig-has = LUNs, address
server-screen = Screen
server-screen-open = Connected: keyboard and mouse go to the machine.
server-screen-closed = The connection has ended. Load the page again to connect.
server-no-viewer = The screen is renewed every two seconds. To use its keyboard and mouse, install noVNC where stend serve runs, and load this page again:
server-no-rigs = No rig is set up.
server-rig-up = up
server-rig-off = off
server-start-guest = Start
server-stop-guest = Shut down
server-snapshot = Snapshot
server-snapshots = Snapshots
server-take-snapshot = Take a snapshot
server-taken = Taken
server-snapshot-has = Holds
server-with-memory = disks and memory
server-of-disks = disks
server-revert = Revert
server-clone = Clone
server-name-of-clone = Name of the clone
server-clone-of-running = To clone it, shut it down.
server-migrate = Migrate
server-to-node = To the node
server-rig-left = left by a run that was killed
server-rig-half-made = half made
server-rig-before-boot = from before the last boot
server-take-down = Take down
server-set-up = Set up a rig
server-kind = Kind
server-rig-file = files
server-rig-pool = pool with two controllers
server-luns = LUNs
server-lun-size = Size of a LUN
server-disks-of-pool = Disks of a pool
server-as-of = as of
server-not-measured = This machine has not been measured yet.
server-check-now = Check whether it is fit to measure
server-history = History
server-show = Show
server-journal-rig-up = { $who } set up the rig { $about }, { $detail }
server-journal-rig-down = { $who } took down the rig { $about }
server-journal-rig-started = { $who } started { $about }
server-journal-rig-stopped = { $who } shut down { $about }
server-journal-rig-snapshot = { $who } took the snapshot { $detail } of { $about }
server-journal-rig-snapshot-removed = { $who } removed the snapshot { $detail } of { $about }
server-journal-rig-reverted = { $who } reverted { $about } to the snapshot { $detail }
server-journal-rig-cloned = { $who } cloned { $about }: { $detail }
server-journal-rig-migrated = { $who } migrated { $about } to the node { $detail }
server-journal-screen-opened = { $who } opened the screen of { $about }
server-journal-run-imported = { $who } imported: { $about }
server-import = Import a run
server-import-file = A file of stend export, hyperfine or go test
server-samples = Series
server-load = Load average over 1, 5 and 15 minutes
server-rig = Rig, if one is to be loaded
server-journal-runs-removed = Runs removed, { $about }: { $detail }

server-nodes = Nodes
server-no-fleet = This server is of no fleet: stend serve --fleet makes it a node of one.
server-at-work = At work for
server-version = Version
server-node = Node
server-node-load = Load / CPUs
server-node-archive = Archived runs
server-node-free = Free
server-node-since = Since
server-this-node = this one
server-node-there = there
server-node-draining = is being updated
server-agent-through = agent, asks
server-node-silent = not heard of
server-node-unknown = not known here
server-members = Members of etcd
server-members-of = They keep what the nodes agree on: users, queue, schedule, journal. Changes need more than half of them.
server-address = Address
server-size = Size
server-member-leads = leads
server-member-follows = follows
server-cut-off = This node does not hear of the fleet. What is shown may be old, nothing can be changed, and nothing is measured here until it does.
