//! The guest of a suite: set up for the sessions that measure it in turns with its host, and taken down behind them.

use std::path::Path;

use jiff::Timestamp;
use stend_model::image::Image;
use stend_model::run::fresh_run_id;
use stend_model::target::vm::Vm;

use crate::catalogue;
use crate::cli::Global;
use crate::cli::failure::{Exit, Failure};
use crate::cli::rig::{lower, raise_guest};
use stend_lab::run::prepare;
use stend_stand::host::Local;
use stend_stand::hosts::{Destination, GUEST};
use stend_stand::interrupt::Interrupt;

pub(super) struct Guest {
    pub(super) vm: Vm,
    image: Image,
    /// As a run's id, so that `stend clean` removes what a killed stend left of it.
    name: String,
}

impl Guest {
    /// That of a suite, by the suite's name or path.
    pub(super) fn of(suite: &str, vm: Vm) -> Result<Self, Failure> {
        let beside = Path::new(suite).parent().unwrap_or(Path::new(""));
        let image = catalogue::image(&vm.image, beside).map_err(Failure::usage)?;
        Ok(Self { vm, image, name: fresh_run_id(Timestamp::now()) })
    }

    pub(super) fn destination(&self) -> Destination {
        Destination::of_address(&format!("{GUEST}{}", self.name))
    }

    /// Sets it up, does something with it, and takes it down whatever came of that.
    pub(super) fn stand_for(
        self,
        global: &Global,
        measure: impl FnOnce() -> Result<Exit, Failure>,
    ) -> Result<Exit, Failure> {
        let Self { vm, image, name } = self;
        let work = prepare::work_directory(&Local).map_err(Failure::unusable)?;
        let lock = || prepare::lock(&Local, &work).map_err(Failure::unusable);
        let interrupt = Interrupt::listen()?;
        {
            let _lock = lock()?;
            raise_guest(global, &work, &name, vm, image, &|| interrupt.requested())?;
        }
        let measured = measure();
        let _lock = lock()?;
        let lowered = lower(&work, &name);
        let exit = measured?;
        lowered?;
        Ok(exit)
    }
}
