# shellcheck shell=sh disable=SC2154
# Prints what decides whether a machine is fit to measure, by the functions of texts.sh, which stand before this. Arguments: directories that
# will be written to. POSIX sh, cat, df, sleep and uname, or what stands in for them.

# What counts up.
counters() {
    while read -r line; do
        case $line in pswpin\ * | pswpout\ *) echo "$1 proc/vmstat:$line" ;; esac
    done <proc/vmstat
    tally 'sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/*_throttle_count' "$1 throttled"
}

# What the processors did, first line of all. The shell reads it by itself: a program would count.
processors() {
    read -r line <proc/stat && echo "$1 proc/stat:$line"
}

# First of all, and with the processors' time innermost, so that none of the work around it is taken for foreign.
counters before 2>/dev/null
processors before 2>/dev/null
sleep 0.5 2>/dev/null || sleep 1
processors after 2>/dev/null
counters after 2>/dev/null

# All in one call, which starts one cat.
cpu=sys/devices/system/cpu dmi=sys/class/dmi/id clock=sys/devices/system/clocksource/clocksource0
texts proc/loadavg proc/pressure/cpu proc/pressure/io proc/pressure/memory $cpu/online \
    $cpu/cpufreq/boost $cpu/intel_pstate/no_turbo \
    $clock/current_clocksource $clock/available_clocksource \
    sys/kernel/mm/transparent_hugepage/enabled proc/sys/kernel/randomize_va_space \
    sys/class/power_supply/*/type sys/class/power_supply/*/online \
    $dmi/sys_vendor $dmi/product_name $dmi/board_vendor $dmi/bios_vendor \
    sys/hypervisor/type proc/xen/capabilities proc/device-tree/hypervisor/compatible
matching proc/meminfo 'MemTotal:*' 'MemAvailable:*' 'SwapTotal:*' 'SwapFree:*'
matching proc/self/status 'Cpus_allowed_list*'

tally "$cpu/cpu[0-9]*/cpufreq/scaling_governor"
tally "$cpu/cpu[0-9]*/cpufreq/scaling_max_freq"
tally "$cpu/cpu[0-9]*/cpufreq/cpuinfo_max_freq"
tally 'sys/class/thermal/thermal_zone*/type'
tally 'sys/class/hwmon/hwmon*/name'

# What tells a virtual machine. The first processor's block is enough.
while IFS= read -r line && [ -n "$line" ]; do
    printf 'proc/cpuinfo:%s\n' "$line"
done 2>/dev/null <proc/cpuinfo
echo "uname -m:$(uname -m)"
matching proc/sysinfo '*Control Program*'

# What will be written to need not be there yet.
number=0
for place; do
    while [ -n "$place" ] && [ ! -e "$place" ]; do
        place=${place%/*}
    done
    place=${place:-/}
    if ! [ -d "$place" ] || ! [ -w "$place" ]; then
        echo "unwritable $number:$place"
    fi
    df -Pk "$place" | named "df $number"
    number=$((number + 1))
done
echo end:
exit 0
