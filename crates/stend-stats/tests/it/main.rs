//! The tests of the statistics. One program holds them all, so that what they share is compiled once.

mod common;
mod stored;

mod against_r;
mod against_scipy;
mod calibration;
mod change_points;
mod documentation;
mod latencies;
mod properties;
mod published;
mod recorded_runs;
