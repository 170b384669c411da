//! The end-to-end tests of `stend`: the real program with the real `stend-probe`, each test in a store of its own.
//!
//! One program holds them all, so that what they share is compiled once. A test may run beside any other one: what it
//! takes for itself of the machine, it takes by `common::alone`.

mod common;

mod ab;
mod access;
mod agents;
mod any_machine;
mod bad_input;
mod before_and_after;
mod carried;
mod clusters;
mod commands;
mod compare;
mod compare_names;
mod conformance;
mod convert;
mod databases;
mod documents;
mod durability;
mod duties;
mod elsewhere;
mod emulated;
mod energy;
mod faults;
mod fio_examples;
mod fitness;
mod fleet;
mod formats;
mod frail_hosts;
mod guests;
mod history;
mod hosts;
mod job_files;
mod keeping;
mod killed;
mod labels;
mod latency;
mod load;
mod locks;
mod looking_on;
mod names;
mod nodes;
mod own_work;
mod profile;
mod public;
mod remote;
mod rig;
mod serve;
mod servers;
mod setup;
mod suites_and_references;
mod switching;
mod target_refusals;
mod targets;
mod telling;
mod timing;
mod together;
mod transports;
mod updates;
mod watched;
mod wire;
mod worse_faults;
mod wrestling;
