//! The tests of the statistics. One program holds them all, so that what they share is compiled once.

mod common;
mod stored;

mod against_r;
mod against_scipy;
mod calibration;
mod change_points;
mod documentation;
mod drift;
mod power;
mod properties;
mod published;
mod recorded_noise;
mod recorded_runs;
mod self_noise;
mod series;
mod worked_examples;
