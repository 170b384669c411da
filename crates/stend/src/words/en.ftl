# Why a repeat does not count, or was not measured. What a program said follows behind a colon, where it said something.

cause-steal = the hypervisor took away { PERCENT($share) } of the machine's CPU time
cause-foreign-cpu = other programs used { PERCENT($share) } of the machine's CPU time
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
cause-work-unverified = the work was not verified; if it cannot be, say verification = "none"
cause-metric-missing = the instrument did not report what the metric "{ $metric }" needs ({ $value })
cause-partner-missing = the other side's repeat beside it does not count

cause-fault-too-late = the load ended before "{ $fault }" at { $at }; let it run longer, or let that happen earlier
cause-fault-failed = "{ $fault }" failed
cause-scrub-errors = scrubbing disk { $disk } found { $errors ->
    [one] { $errors } error
   *[other] { $errors } errors
} that could not be mended
cause-scrub-failed = disk { $disk } cannot be scrubbed
cause-disk-not-mended = disk { $disk } was not mended within { $limit }
cause-rebuild-failed = disk { $disk } cannot be rebuilt, tried { $tries ->
    [one] once
   *[other] { $tries } times
}
cause-rebuild-full = disk { $disk } cannot be rebuilt, tried { $tries ->
    [one] once
   *[other] { $tries } times
}: no space left; btrfs needs space that no LUN takes on each disk: make the LUNs smaller
cause-disk-not-renewed = the disk that was disk { $disk } cannot be used again
cause-errors-unread = the error counters of disk { $disk } cannot be read
cause-moment-unknown = the machine does not say when "{ $fault }" was
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
cause-files-unwritten = its files cannot be put there
cause-parameters = its parameters are not taken
cause-rate-unknown = its rate is a share of "{ $of }", which has no repeat that counts

cause-too-many-lines = it printed more than { $most } lines
cause-too-much-printed = it printed more than { $most_mib } MiB
cause-too-many-marks = it printed more than { $most } "mark" events
cause-no-event = it printed a line that is no event
cause-second-begin = it printed a second "begin"
cause-no-begin = it printed no "begin"
cause-no-repeat = it printed no "repeat"
cause-many-repeats = it printed { $count } "repeat" events; stend wants one an invocation
cause-no-end = it printed no "end"
cause-latencies-wrong = the latencies in its "repeat" are wrong

cause-tool-exited = { $tool } exited with status { $status }
cause-tool-killed = { $tool } was ended by signal { $signal }
cause-tool-timed-out = { $tool } was stopped because its time was up
cause-tool-end-unknown = it is not known how { $tool } ended
cause-tool-line = { $output } has a line that is not understood
cause-fio-report-cut = fio's report is no complete JSON ({ $error })
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
cause-fio-data-wrong = fio's job "{ $job }" read other data than were written
cause-fio-idle = fio did no operation
cause-fio-figure = what fio reports makes "{ $name }" { $figure }, which is no amount
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
cause-gzip-untimed = gzip took no time at all; the guard did not measure it
cause-not-read-again = { $tool } does not read again what it wrote

cause-tool-missing = { $tool } is not on the machine's PATH
cause-tool-forbidden = { $tool } is forbidden here
cause-tool-broken = { $tool } does not work here
cause-tool-silent = { $tool } observed nothing
cause-kernel-unseen = perf may not look into the kernel (kernel.perf_event_paranoid is { $level })
cause-kernel-nameless = the kernel hides the names of its functions (kernel.kptr_restrict is { $level })

# What repeats were lost to.

lost = { $run }: { $repeats } of { $of } measured repeats { $repeats ->
    [one] does
   *[other] do
} not count: { $to }
lost-steal = { $count } for steal
lost-foreign-cpu = { $count } for other programs' CPU time
lost-clock-fell = { $count } for a falling clock
lost-swapping = { $count } for swapping
lost-throttling = { $count } for throttling
lost-work = { $count } for wrong or unverified work
lost-failure = { $count } failed
lost-other = { $count } for other reasons
