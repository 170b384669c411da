# shellcheck shell=sh disable=SC2154
# Prints what a machine says of itself, by the functions of texts.sh, which stand before this. POSIX sh, cat, uname and getconf, or what stands in
# for them.
output uname -m
output uname -n
texts proc/cpuinfo
matching proc/meminfo 'MemTotal:*' 'SwapTotal:*'

tally 'sys/devices/system/cpu/cpu[0-9]*/topology/physical_package_id'
tally 'sys/devices/system/cpu/cpu[0-9]*/topology/thread_siblings_list'
for d in sys/devices/system/cpu/cpu[0-9]*/cache/index[0-9]*; do
    first "$d/level"
    level=$line
    first "$d/type"
    kind=$line
    first "$d/size"
    size=$line
    first "$d/shared_cpu_list"
    [ -n "$level" ] && echo "distinct caches:$level ${kind:-?} ${size:-?} $line"
done
texts sys/devices/system/cpu/present sys/devices/system/cpu/online sys/devices/system/cpu/isolated \
    sys/devices/system/cpu/nohz_full sys/devices/system/cpu/smt/control sys/devices/system/node/online

for d in sys/block/*; do
    # What is no device (loop, ram, zram, dm, md, zd) is made by software and is no part of the hardware.
    [ -e "$d/device" ] || continue
    echo "disks:${d##*/}"
    texts "$d/size" "$d/removable" "$d/hidden" "$d/queue/rotational" "$d/queue/scheduler" "$d/queue/nr_requests" \
        "$d/queue/write_cache" "$d/queue/read_ahead_kb" "$d/device/vendor" "$d/device/model" "$d/device/name" \
        "$d/device/rev" "$d/device/firmware_rev" 2>/dev/null
done

d=sys/class/dmi/id
texts $d/sys_vendor $d/product_name $d/product_version $d/board_vendor $d/board_name $d/bios_vendor $d/bios_version
# Strings that end in zero bytes, which no shell reads.
strings() {
    for file; do
        readable "$file" && printf '%s:' "$file" && cat "$file" && echo
    done
}
strings proc/device-tree/model proc/device-tree/compatible proc/device-tree/hypervisor/compatible
texts sys/devices/soc0/machine sys/devices/soc0/family sys/devices/soc0/soc_id sys/devices/soc0/revision
for d in proc/device-tree/cpus/cpu@*; do
    [ -r "$d/compatible" ] && strings "$d/compatible" && break
done

texts proc/sys/kernel/osrelease proc/version proc/cmdline etc/os-release
# The C library that the shell itself runs with says its version when it is started, as ldd does, which is of bash.
while read -r _ _ _ _ _ file; do
    case $file in
    */libc.so.6 | */libc-2.*.so | */ld-musl-*.so*)
        [ -x "$file" ] && "$file" 2>&1 </dev/null | named libc
        break
        ;;
    esac
done <proc/self/maps 2>/dev/null
output ldd --version
output getconf GNU_LIBC_VERSION
output getconf PAGESIZE
for compiler in cc lcc gcc clang; do
    if command -v $compiler >/dev/null 2>&1; then
        output $compiler --version
        break
    fi
done

for f in .dockerenv run/.containerenv proc/vz; do
    [ -e $f ] && echo "exists:$f"
done
texts run/systemd/container proc/1/cgroup sys/hypervisor/type proc/xen/capabilities
matching proc/sysinfo '*Control Program*'
matching proc/self/status 'Cpus_allowed_list*'
# A limit on any level above counts.
group=
while IFS= read -r line; do
    case $line in 0::*) group=${line#0::} ;; esac
done 2>/dev/null <proc/self/cgroup
while :; do
    first "sys/fs/cgroup$group/cpu.max"
    [ -n "$line" ] && echo "cpu.max:$line"
    [ -n "${group%/}" ] || break
    group=${group%/*}
done

texts sys/devices/system/cpu/vulnerabilities/*
tally 'sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor'
tally 'sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_driver'
tally 'sys/devices/system/cpu/cpu[0-9]*/cpufreq/energy_performance_preference'
d=sys/devices/system/cpu
texts $d/cpufreq/boost $d/intel_pstate/no_turbo $d/intel_pstate/status $d/amd_pstate/status \
    $d/cpuidle/current_driver $d/cpuidle/current_governor $d/cpuidle/current_governor_ro
d=sys/devices/system/clocksource/clocksource0
texts $d/current_clocksource $d/available_clocksource
texts sys/kernel/mm/transparent_hugepage/enabled sys/kernel/mm/transparent_hugepage/defrag
d=proc/sys
texts $d/kernel/randomize_va_space $d/kernel/numa_balancing $d/kernel/perf_event_paranoid $d/kernel/nmi_watchdog \
    $d/kernel/sched_autogroup_enabled $d/kernel/sched_rt_runtime_us $d/kernel/timer_migration \
    $d/vm/swappiness $d/vm/overcommit_memory $d/vm/dirty_ratio $d/vm/dirty_bytes $d/vm/dirty_background_ratio \
    $d/vm/dirty_background_bytes $d/vm/vfs_cache_pressure $d/vm/nr_hugepages \
    $d/vm/zone_reclaim_mode $d/fs/pipe-max-size $d/fs/pipe-user-pages-soft $d/fs/pipe-user-pages-hard $d/fs/aio-max-nr \
    $d/net/core/somaxconn $d/net/core/default_qdisc $d/net/ipv4/tcp_congestion_control
echo end:
exit 0
