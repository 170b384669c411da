#!/bin/sh
# The sampler on this machine and on a root of fixtures.
. "$(dirname "$0")/common.sh"

# Ticks that a busy machine did not let it keep are left out, but not always.
tries=$((100 * ${PATIENCE:-1}))
while [ $((tries -= 1)) -gt 0 ]; do
	"$probe" sample --hertz 20 --seconds 0.5 </dev/null >"$work/lines"
	got=$?
	! lines_of "$work/lines" 11 || break
done
ok 'status' [ "$got" -eq 0 ]
ok 'lines are JSON' "$json_check" "$work/lines"
ok 'begin with missing' sh -c "head -n 1 '$work/lines' | grep -q '\"missing\":{'"
ok 'eleven samples' sh -c "[ \$(grep -c '^{\"event\":\"sample\",' '$work/lines') -ge 9 ]"
ok 'not more' sh -c "[ \$(grep -c '^{\"event\":\"sample\",' '$work/lines') -le 11 ]"
ok 'end' sh -c "tail -n 1 '$work/lines' | grep -qx '{\"event\":\"end\",\"repeats\":0}'"

sleep 0.3 | "$probe" sample >"$work/lines"
ok 'ends when the input closes' sh -c "tail -n 1 '$work/lines' | grep -q '\"event\":\"end\"'"
: >"$work/lines"
"$probe" sample </dev/null >"$work/lines" &
sampler=$!
wait_for lines_of "$work/lines" 1
kill $sampler
wait $sampler
ok 'TERM: status' [ $? -eq 0 ]
ok 'ends on TERM' sh -c "tail -n 1 '$work/lines' | grep -q '\"event\":\"end\"'"

root=$work/root
mkdir -p "$root/proc/net" "$root/proc/pressure" "$root/sys/block/sda" "$root/sys/block/sdb" "$root/sys/block/loop0" "$root/sys/block/loop1" "$root/sys/block/loop2" \
	"$root/sys/class/thermal/thermal_zone0" "$root/sys/class/thermal/thermal_zone1" "$root/sys/class/hwmon/hwmon0" \
	"$root/sys/devices/system/cpu/cpu1/cpufreq" "$root/sys/devices/system/cpu/cpu0/thermal_throttle" "$root/sys/devices/system/cpu/cpu1/thermal_throttle"
echo 3 >"$root/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count"
echo 4 >"$root/sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count"
cat >"$root/proc/stat" <<'END'
cpu  300 20 30 4000 50 6 7 8 0 0
cpu0 100 10 10 2000 25 3 3 4 0 0
cpu1 200 10 20 2000 25 3 4 4 0 0
intr 123456 1 2 3
ctxt 987654321
btime 1700000000
END
cat >"$root/proc/meminfo" <<'END'
MemTotal:       16000000 kB
MemFree:         1000000 kB
MemAvailable:    9000000 kB
Buffers:          100000 kB
Cached:          2000000 kB
SwapCached:            0 kB
SwapTotal:       4000000 kB
SwapFree:        3000000 kB
Dirty:               128 kB
END
echo 0 >"$root/sys/block/loop2/size"
printf 'pgpgin 5\npswpin 11\npswpout 12\npgfault 9\n' >"$root/proc/vmstat"
printf '0.52 0.40 0.30 1/100 4242\n' >"$root/proc/loadavg"
printf 'some avg10=0.00 avg60=0.00 avg300=0.00 total=1500\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=200\n' >"$root/proc/pressure/io"
cat >"$root/proc/diskstats" <<'END'
   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0
   7       1 loop1 5 0 40 1 0 0 0 0 0 1 1
   7       2 loop2 5 0 40 1 0 0 0 0 0 1 1
   8       0 sda 100 5 2000 30 200 6 4000 40 3 50 70 0 0 0 0
   8      16 sdb 10 5 200 30 20 6 400 40 2 30 90 0 0 0 0
   8       1 sda1 90 5 1000 30 200 6 4000 40 3 50 70
   1       0 ram0 9 9 9 9 9 9 9 9 9 9 9
END
cat >"$root/proc/net/dev" <<'END'
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:    1000      10    0    0    0     0          0         0     1000      10    0    0    0     0       0          0
eth0.7:123456789     77    0    0    0     0          0         0      555       6    0    0    0     0       0          0
END
printf '3400000\n' >"$root/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq"
printf 'x86_pkg_temp\n' >"$root/sys/class/thermal/thermal_zone0/type"
printf '41500\n' >"$root/sys/class/thermal/thermal_zone0/temp"
printf 'x86_pkg_temp\n' >"$root/sys/class/thermal/thermal_zone1/type"
printf -- '-5250\n' >"$root/sys/class/thermal/thermal_zone1/temp"
printf 'nvme\n' >"$root/sys/class/hwmon/hwmon0/name"
energy=$root/sys/class/powercap
mkdir -p "$energy/intel-rapl" "$energy/intel-rapl:0" "$energy/intel-rapl:0:1" "$energy/intel-rapl-mmio:0" "$root/sys/class/hwmon/hwmon1"
for zone in intel-rapl:0=package-0=1234567890 intel-rapl:0:1=dram=5000000 intel-rapl-mmio:0=package-0=1234567890; do
	at=$energy/${zone%%=*}
	name=${zone#*=}
	printf '%s\n' "${name%=*}" >"$at/name"
	printf '%s\n' "${name#*=}" >"$at/energy_uj"
	printf '262143328850\n' >"$at/max_energy_range_uj"
done
printf 'ina226\n' >"$root/sys/class/hwmon/hwmon1/name"
printf '7250000\n' >"$root/sys/class/hwmon/hwmon1/power1_input"
printf '1000000\n' >"$root/sys/class/hwmon/hwmon1/power1_average"
printf '9000000\n' >"$root/sys/class/hwmon/hwmon1/power2_average"
printf 'board\n' >"$root/sys/class/hwmon/hwmon1/power2_label"
printf '3500000\n' >"$root/sys/class/hwmon/hwmon1/energy1_input"
printf 'Composite "A"\n' >"$root/sys/class/hwmon/hwmon0/temp1_label"
printf '38850\n' >"$root/sys/class/hwmon/hwmon0/temp1_input"

"$probe" sample --root "$root" --hertz 100 --seconds 0.02 </dev/null >"$work/lines"
ok 'fixtures: JSON' "$json_check" "$work/lines"
tick=$((1000000000 / $(getconf CLK_TCK)))
for pair in "cpu.user_ns_total\":$((300 * tick))" "cpu1.steal_ns_total\":$((4 * tick))" "cpu0.idle_ns_total\":$((2000 * tick))" \
	'context_switches_total":987654321' 'memory.total_bytes":16384000000' 'memory.available_bytes":9216000000' \
	'memory.free_bytes":1024000000' 'memory.cached_bytes":2048000000' 'memory.dirty_bytes":131072' \
	'swap.used_bytes":1024000000' 'swap.in_pages_total":11' 'swap.out_pages_total":12' 'load.1m":0.520' \
	'pressure.io_some_ns_total":1500000' 'pressure.io_full_ns_total":200000' 'disk.sda.reads_total":100' \
	'disk.sda.read_bytes_total":1024000' 'disk.sda.writes_total":200' 'disk.sda.written_bytes_total":2048000' \
	'disk.sda.in_flight":3' 'disk.sda.busy_ns_total":50000000' 'disk.loop1.reads_total":5' \
	'net.eth0.7.received_bytes_total":123456789' 'net.eth0.7.received_packets_total":77' 'net.eth0.7.sent_bytes_total":555' \
	'net.eth0.7.sent_packets_total":6' 'cpu1.frequency_hz":3400000000' 'cpu.throttles_total":7' 'thermal.x86_pkg_temp_celsius":41.500' \
	'thermal.x86_pkg_temp_2_celsius":-5.250' 'thermal.nvme_Composite__A__celsius":38.850' \
	'energy.rapl.package-0_joules_total":1234.567' 'energy.rapl.package-0.dram_joules_total":5.000' \
	'power.ina226_power1_watts":7.250' 'power.ina226_board_watts":9.000' 'energy.ina226_energy1_joules_total":3.500'; do
	ok "fixtures: $pair" grep -q "\"${pair}[,}]" "$work/lines"
done
ok 'fixtures: the queue over time' grep -q '"disk.sda.queue_ns_total":70000000[,}]' "$work/lines"
for name in disk.sda1 disk.ram0 disk.loop0 disk.loop2 energy.rapl.package-0_2; do
	ok "fixtures: no $name" sh -c "! grep -q '\"$name' '$work/lines'"
done
ok 'fixtures: missing pressure' sh -c "head -n 1 '$work/lines' | grep -qF '\"pressure.cpu\":{\"cause\":\"unread\",\"file\":\"/proc/pressure/cpu\",\"said\":\"\"}'"
ok 'fixtures: nothing else missing' sh -c "! head -n 1 '$work/lines' | grep -q 'class/thermal\|diskstats\|cpufreq'"

# What nothing is attached to is no disk, until something is.
"$probe" sample --root "$root" --hertz 10 </dev/null >"$work/attached" &
sampler=$!
wait_for grep -q '"disk.sda.reads_total":100[,}]' "$work/attached"
echo 2048 >"$root/sys/block/loop2/size"
sed 's/loop2 5 0/loop2 6 0/' "$root/proc/diskstats" >"$work/diskstats"
cp "$work/diskstats" "$root/proc/diskstats"
wait_for grep -q '"disk.loop2.reads_total":6[,}]' "$work/attached"
ok 'attached: a disk from then on' sh -c "! grep -q '\"disk.loop2.reads_total\":5[,}]' '$work/attached'"
kill "$sampler"
wait "$sampler" 2>/dev/null || true

# A counter that begins anew behind its range loses nothing.
: >"$work/lines"
"$probe" sample --root "$root" --hertz 10 </dev/null >"$work/lines" &
sampler=$!
wait_for grep -q '"energy.rapl.package-0_joules_total":1234.567' "$work/lines"
printf '262143328849\n' >"$energy/intel-rapl:0/energy_uj"
wait_for grep -q '"energy.rapl.package-0_joules_total":262143.328' "$work/lines"
printf '1999998\n' >"$energy/intel-rapl:0/energy_uj"
wait_for grep -q '"energy.rapl.package-0_joules_total":262145.328' "$work/lines"
kill $sampler
wait $sampler
ok 'energy: behind the range' grep -q '"energy.rapl.package-0_joules_total":262145.328' "$work/lines"
printf '1234567890\n' >"$energy/intel-rapl:0/energy_uj"
# What only root may read is said to be refused; root may read everything.
if [ "$(id -u)" -ne 0 ]; then
	chmod 0 "$energy/intel-rapl:0/energy_uj"
	"$probe" sample --root "$root" --seconds 0.1 </dev/null >"$work/lines"
	ok 'energy: refused' grep -qF '"energy":{"cause":"unread","file":"/sys/class/powercap/intel-rapl:0/energy_uj","said":"Permission denied"}' "$work/lines"
	chmod 644 "$energy/intel-rapl:0/energy_uj"
fi

# Control groups of both versions, as kernels write them, and disks that are summed.
old=/sys/fs/cgroup
mkdir -p "$root$old/cpuacct/c0" "$root$old/memory/c0" "$root$old/cpu/c0" "$root/unified/c1" "$root/unified/c2"
printf '1234567890\n' >"$root$old/cpuacct/c0/cpuacct.usage"
printf 'user 90\nsystem 33\n' >"$root$old/cpuacct/c0/cpuacct.stat"
printf 'nr_periods 50\nnr_throttled 3\nthrottled_time 4500000\n' >"$root$old/cpu/c0/cpu.stat"
printf '104857600\n' >"$root$old/memory/c0/memory.usage_in_bytes"
printf 'usage_usec 987654\nuser_usec 900000\nsystem_usec 87654\nnice_usec 0\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n' \
	>"$root/unified/c1/cpu.stat"
printf '52428800\n' >"$root/unified/c1/memory.current"
printf 'usage_usec 5\nuser_usec 4\nsystem_usec 1\ncore_sched.force_idle_usec 0\nnr_periods 7\nnr_throttled 2\nthrottled_usec 31\n' \
	>"$root/unified/c2/cpu.stat"
"$probe" sample --root "$root" --hertz 100 --seconds 0.02 --group "c0=$old/cpuacct/c0" --group "c0=$old/memory/c0" \
	--group "c0=$old/cpu/c0" --group c1=/unified/c1 --group c2=/unified/c2 --group gone=/unified/c3 \
	--disks pool=sda --disks pool=sdb --disks idle=loop0 </dev/null >"$work/lines"
ok 'groups: JSON' "$json_check" "$work/lines"
for pair in 'c0.cpu_ns_total":1234567890' "c0.user_ns_total\":$((90 * tick))" "c0.system_ns_total\":$((33 * tick))" \
	'c0.throttled_ns_total":4500000' 'c0.memory_bytes":104857600' 'c1.cpu_ns_total":987654000' \
	'c1.user_ns_total":900000000' 'c1.system_ns_total":87654000' 'c1.memory_bytes":52428800' 'c2.cpu_ns_total":5000' \
	'c2.throttled_ns_total":31000' 'pool.reads_total":110' 'pool.written_bytes_total":2252800' 'pool.in_flight":5' \
	'pool.busy_ns_total":40000000' 'pool.queue_ns_total":160000000' 'idle.in_flight":0'; do
	ok "groups: $pair" grep -q "\"${pair}[,}]" "$work/lines"
done
ok 'groups: what limits nothing throttles nothing' sh -c "! grep -q 'c1.throttled' '$work/lines'"
ok 'groups: one that is not there is missing' grep -qF '"gone":{"cause":"silent","sources":["/unified/c3"]}' "$work/lines"
for words in '--group c0' '--group =x' '--disks c0='; do
	# shellcheck disable=SC2086 # words
	"$probe" sample --check $words 2>"$work/err"
	ok "groups: $words" sh -c "[ $? -eq 2 ] && grep -q 'must be NAME=' '$work/err'"
done

# A real control group of version 1, with something that works in it; only root can make one.
real=/sys/fs/cgroup/cpuacct
if [ -w "$real" ] && mkdir "$real/stend-test-$$" 2>/dev/null; then
	real=$real/stend-test-$$
	sh -c 'echo $$ >"$1/cgroup.procs" && exec timeout 1 sh -c "while :; do :; done"' sh "$real" &
	busy=$!
	"$probe" sample --hertz 10 --seconds 1 --group "c0=$real" </dev/null >"$work/lines"
	wait $busy
	used=$(cat "$real/cpuacct.usage")
	rmdir "$real"
	seen=$(sed -n 's/.*"c0.cpu_ns_total":\([0-9]*\).*/\1/p' "$work/lines" | tail -n 1)
	ok "a real control group: $seen of $used ns" [ "${seen:-0}" -gt 0 ] && ok 'no more than was used' [ "$seen" -le "$used" ]
else
	echo 'test_sample: no control group of version 1 that can be made here; left out' >&2
fi

# What stands below a guard where the numbers of processes have begun again from below.
made_process() { # NUMBER PARENT USER SYSTEM USER-OF-CHILDREN
	mkdir -p "$root/proc/$1"
	echo "$1 (a (made) one) S $2 $1 $1 0 -1 0 0 0 0 0 $3 $4 $5 0 20 0 1 0 0 0 0" >"$root/proc/$1/stat"
}
made_process 900 1 100 50 3
made_process 950 900 20 0 0
made_process 17 950 7 2 0
made_process 16 17 1 0 0
made_process 18 1 500 500 0
echo 900 >"$work/made.pid"
"$probe" sample --root "$root" --seconds 0.1 --loader "$work/made.pid" </dev/null >"$work/lines"
ok 'loader: all below the guard, in any order' grep -q "\"loader.user_ns_total\":$((31 * tick))[,}]" "$work/lines"
ok 'loader: their system time' grep -q "\"loader.system_ns_total\":$((2 * tick))[,}]" "$work/lines"

# What stands below a guard: the command, its child, and what a child had used that has ended. No root is needed for it.
mkfifo "$work/open"
exec 3<>"$work/open"
"$probe" guard --pid-file "$work/guard.pid" -- \
	sh -c "sh -c 'ulimit -t 1; while :; do :; done'; sh -c 'while :; do :; done' & wait" <"$work/open" >"$work/usage" 2>/dev/null &
wait_for [ -s "$work/guard.pid" ]
"$probe" sample --hertz 10 --loader "$work/guard.pid" </dev/null >"$work/lines" &
sampler=$!
# The loop that has ended used a second.
loader_used() {
	used=$(sed -n 's/.*"loader.user_ns_total":\([0-9]*\).*/\1/p' "$work/lines" | tail -n 1)
	[ "${used:-0}" -gt 1100000000 ]
}
wait_for loader_used
kill $sampler
wait $sampler
kill "$(cat "$work/guard.pid")"
wait_for [ ! -e "$work/guard.pid" ]
ok 'loader: JSON' "$json_check" "$work/lines"
user=$(sed -n 's/.*"loader.user_ns_total":\([0-9]*\).*/\1/p' "$work/lines")
ok 'loader: its time only grows' sh -c "[ \"$user\" = \"\$(echo '$user' | sort -n)\" ]"
ok 'loader: what has ended counts' loader_used
ok 'loader: memory' grep -q '"loader.memory_bytes":[1-9]' "$work/lines"
wait_for grep -q usage "$work/usage"
whole=$(sed -n 's/.*"user_ns":\([0-9]*\).*/\1/p' "$work/usage")
emulated "sample: no more than the guard counted" 'qemu-user 7 refuses to let a process adopt orphans, so they count nowhere' ||
	ok "loader: no more than the guard counted ($whole)" [ "$(echo "$user" | tail -n 1)" -le $((whole + 2 * tick)) ]
"$probe" sample --hertz 10 --seconds 0.3 --loader "$work/guard.pid" </dev/null >"$work/lines"
ok 'loader: nothing where no guard runs' sh -c "! grep -q '\"loader\.' '$work/lines'"

# Files that become empty or useless while the sampler runs: their metrics go, it stays.
: >"$work/lines"
"$probe" sample --root "$root" --hertz 100 </dev/null >"$work/lines" &
sampler=$!
wait_for lines_of "$work/lines" 2
: >"$root/proc/stat"
: >"$root/proc/diskstats"
printf 'nonsense' >"$root/proc/meminfo"
printf 'broken\n\n:\n  x:\n' >"$root/proc/net/dev"
rm -r "$root/sys"
wait_for lines_of "$work/lines" $(($(wc -l <"$work/lines") + 3))
kill $sampler
wait $sampler
ok 'vanishing: status' [ $? -eq 0 ]
ok 'vanishing: JSON' "$json_check" "$work/lines"
ok 'vanishing: metrics were there' sh -c "sed -n 2p '$work/lines' | grep -q '\"cpu.user_ns_total\"'"
ok 'vanishing: metrics went' sh -c "tail -n 2 '$work/lines' | head -n 1 | grep -v '\"cpu.user_ns_total\"' | grep -q '\"load.1m\"'"
# Nothing at all to read: no sample, but begin and end.
"$probe" sample --root "$work/nothing" --seconds 0.2 </dev/null >"$work/lines"
ok 'empty root' sh -c "[ \$(wc -l <'$work/lines') -eq 2 ]"

# The cost, which the guard counts: far from a busy loop, also on a machine that does other things. How much it is, the
# benchmark of the lab says.
sleep 3 | "$probe" guard -- "$probe" sample --hertz 10 --seconds 2 >"$work/lines"
used=$(sed -n 's/.*"event":"usage".*"user_ns":\([0-9]*\),"system_ns":\([0-9]*\).*/\1 + \2/p' "$work/lines")
ok 'cost: it is told' [ -n "$used" ]
used=$((${used:-0}))
ok "cost: $used ns in 2 s" [ "$used" -le "${SAMPLE_COST_LIMIT_NS:-200000000}" ]
finish
