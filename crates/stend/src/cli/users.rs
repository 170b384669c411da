//! `stend users`: who may sign in to this lab's server.

use clap::builder::PossibleValue;
use clap::{Args, Subcommand, ValueEnum};
use stend_server::{Role, Users};

use super::Global;
use super::failure::{Exit, Failure};
use super::output;
use super::serve::failure;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Add a user, and print the password to sign in with the first time
    Add {
        /// The name: 1 to 64 letters, digits, and - . or _
        name: String,
        /// What the user may do: a viewer sees, an operator also starts and stops runs, an admin also manages users
        #[arg(long, value_name = "ROLE", default_value = "viewer")]
        role: Chosen,
    },
    /// Give a user a new password, print it, and end the user's sessions
    Reset {
        /// The name
        name: String,
    },
    /// Remove a user with their sessions and tokens
    Remove {
        /// The name
        name: String,
    },
}

#[derive(Debug, Clone, Copy)]
struct Chosen(Role);

impl ValueEnum for Chosen {
    fn value_variants<'a>() -> &'a [Self] {
        const { &[Self(Role::Viewer), Self(Role::Operator), Self(Role::Admin)] }
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.word()))
    }
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let store = global.store_directory()?;
    stend_store::make_directory(&store)?;
    let users = Users::open(&store).map_err(failure)?;
    let talk = |said: &str| {
        if !global.quiet {
            talk!("{said}");
        }
    };
    match &arguments.action {
        None => {
            let all = users.all().map_err(failure)?;
            let text: String = all.iter().map(|user| format!("{}  {}\n", user.name, user.role.word())).collect();
            if all.is_empty() {
                talk("there are no users; `stend users add NAME --role admin` adds one");
            }
            output::print(&text)?;
        }
        Some(Action::Add { name, role }) => {
            let password = users.add(name, role.0).map_err(failure)?;
            talk(&format!("{name} may sign in as {} with this password, which is shown once", role.0.word()));
            output::print(&format!("{password}\n"))?;
        }
        Some(Action::Reset { name }) => {
            let password = users.renew(name).map_err(failure)?;
            talk(&format!("{name} may sign in with this password, which is shown once"));
            output::print(&format!("{password}\n"))?;
        }
        Some(Action::Remove { name }) => {
            users.remove(name).map_err(failure)?;
            talk(&format!("{name} is removed"));
        }
    }
    Ok(Exit::Fine)
}
