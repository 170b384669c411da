#!/bin/sh
# The sampler on this machine and on a root of fixtures.
. "$(dirname "$0")/common.sh"

# Ticks that a busy machine did not let it keep are left out.
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
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
mkdir -p "$root/proc/net" "$root/proc/pressure" "$root/sys/block/sda" "$root/sys/block/loop0" "$root/sys/block/loop1" \
	"$root/sys/class/thermal/thermal_zone0" "$root/sys/class/thermal/thermal_zone1" "$root/sys/class/hwmon/hwmon0" \
	"$root/sys/devices/system/cpu/cpu1/cpufreq"
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
printf 'pgpgin 5\npswpin 11\npswpout 12\npgfault 9\n' >"$root/proc/vmstat"
printf '0.52 0.40 0.30 1/100 4242\n' >"$root/proc/loadavg"
printf 'some avg10=0.00 avg60=0.00 avg300=0.00 total=1500\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=200\n' >"$root/proc/pressure/io"
cat >"$root/proc/diskstats" <<'END'
   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0
   7       1 loop1 5 0 40 1 0 0 0 0 0 1 1
   8       0 sda 100 5 2000 30 200 6 4000 40 3 50 70 0 0 0 0
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
	'net.eth0.7.sent_packets_total":6' 'cpu1.frequency_hz":3400000000' 'thermal.x86_pkg_temp_celsius":41.500' \
	'thermal.x86_pkg_temp_2_celsius":-5.250' 'thermal.nvme_Composite__A__celsius":38.850'; do
	ok "fixtures: $pair" grep -q "\"${pair}[,}]" "$work/lines"
done
for name in disk.sda1 disk.ram0 disk.loop0; do
	ok "fixtures: no $name" sh -c "! grep -q '\"$name' '$work/lines'"
done
ok 'fixtures: missing pressure' sh -c "head -n 1 '$work/lines' | grep -q '\"pressure.cpu\":\"cannot read /proc/pressure/cpu\"'"
ok 'fixtures: nothing else missing' sh -c "! head -n 1 '$work/lines' | grep -q 'thermal zone\|diskstats\|cpufreq'"

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
