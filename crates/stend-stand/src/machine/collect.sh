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

for d in sys/block/*; do
    # What is no device (loop, ram, zram, dm, md, zd) is made by software and is no part of the hardware.
    [ -e "$d/device" ] || continue
    echo "disks:${d##*/}"
    texts "$d/size" "$d/removable" "$d/hidden" "$d/queue/rotational" "$d/queue/scheduler" "$d/queue/nr_requests" \
        "$d/queue/write_cache" "$d/queue/read_ahead_kb" "$d/device/vendor" "$d/device/model" "$d/device/name" \
        "$d/device/rev" "$d/device/firmware_rev" 2>/dev/null
done

# Strings that end in zero bytes, which no shell reads.
strings() {
    for file; do
        readable "$file" && printf '%s:' "$file" && cat "$file" && echo
    done
}
strings proc/device-tree/model proc/device-tree/compatible proc/device-tree/hypervisor/compatible
for d in proc/device-tree/cpus/cpu@*; do
    [ -r "$d/compatible" ] && strings "$d/compatible" && break
done

# The C library that the shell itself runs with says its version when it is started, as ldd does, which is of bash. A shell that is linked
# statically runs with none; then it is that of this processor's programs.
libc=
while read -r _ _ _ _ _ file; do
    case $file in
    */libc.so.6 | */libc-2.*.so | */ld-musl-*.so*)
        libc=$file
        break
        ;;
    esac
done 2>/dev/null <proc/self/maps
for file in "$libc" lib/"$(uname -m)"-*/libc.so.6 lib64/libc.so.6 lib/ld-musl-"$(uname -m)".so.1; do
    if [ -x "$file" ]; then
        "$file" 2>&1 </dev/null | named libc
        break
    fi
done
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

tally 'sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor'
tally 'sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_driver'
tally 'sys/devices/system/cpu/cpu[0-9]*/cpufreq/energy_performance_preference'

# All in one call, which starts one cat.
cpu=sys/devices/system/cpu dmi=sys/class/dmi/id clock=sys/devices/system/clocksource/clocksource0 p=proc/sys
texts $cpu/present $cpu/online $cpu/isolated $cpu/nohz_full $cpu/smt/control sys/devices/system/node/online \
    $dmi/sys_vendor $dmi/product_name $dmi/product_version $dmi/board_vendor $dmi/board_name $dmi/bios_vendor $dmi/bios_version \
    sys/devices/soc0/machine sys/devices/soc0/family sys/devices/soc0/soc_id sys/devices/soc0/revision \
    $p/kernel/osrelease proc/version proc/cmdline etc/os-release \
    run/systemd/container proc/1/cgroup sys/hypervisor/type proc/xen/capabilities \
    $cpu/vulnerabilities/* \
    $cpu/cpufreq/boost $cpu/intel_pstate/no_turbo $cpu/intel_pstate/status $cpu/amd_pstate/status \
    $cpu/cpuidle/current_driver $cpu/cpuidle/current_governor $cpu/cpuidle/current_governor_ro \
    $clock/current_clocksource $clock/available_clocksource \
    sys/kernel/mm/transparent_hugepage/enabled sys/kernel/mm/transparent_hugepage/defrag \
    $p/kernel/randomize_va_space $p/kernel/numa_balancing $p/kernel/perf_event_paranoid $p/kernel/nmi_watchdog \
    $p/kernel/sched_autogroup_enabled $p/kernel/sched_rt_runtime_us $p/kernel/timer_migration \
    $p/vm/swappiness $p/vm/overcommit_memory $p/vm/dirty_ratio $p/vm/dirty_bytes $p/vm/dirty_background_ratio \
    $p/vm/dirty_background_bytes $p/vm/vfs_cache_pressure $p/vm/nr_hugepages \
    $p/vm/zone_reclaim_mode $p/fs/pipe-max-size $p/fs/pipe-user-pages-soft $p/fs/pipe-user-pages-hard $p/fs/aio-max-nr \
    $p/net/core/somaxconn $p/net/core/default_qdisc $p/net/ipv4/tcp_congestion_control
echo end:
exit 0
