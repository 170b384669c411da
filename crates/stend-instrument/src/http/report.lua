-- What a run of wrk was, as lines of a name and numbers; latencies in microseconds with how many took so long.
function done(summary, latency)
    local out = assert(io.open("report", "w"))
    local function say(name, ...)
        out:write(name, " ", table.concat({ ... }, " "), "\n")
    end
    say("requests", summary.requests)
    say("duration_us", summary.duration)
    say("bytes", string.format("%.0f", summary.bytes))
    for _, kind in ipairs({ "connect", "read", "write", "status", "timeout" }) do
        say("error_" .. kind, summary.errors[kind])
    end
    for place = 1, #latency do
        local microseconds, count = latency(place)
        say("latency", microseconds, count)
    end
    assert(out:close())
end
