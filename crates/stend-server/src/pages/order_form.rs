//! The form that starts a run.

use serde::Deserialize;
use serde::de::value::{Error as BadField, MapDeserializer};
use stend_model::identity::digest_of;
use stend_model::run::HERE;

use crate::order::{Batch, MachineState, Order, Timed, is_plain_name};

/// The fields of the form that starts a run, as a browser sends them.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct OrderForm {
    pub(super) suite: String,
    /// Those that are ticked: a field each.
    #[serde(skip)]
    pub(super) machines: Vec<String>,
    pub(super) sessions: String,
    pub(super) label: String,
    pub(super) repeats: String,
    pub(super) scale: String,
    pub(super) a: String,
    pub(super) b: String,
    /// Variables of the suite: NAME=VALUE, separated by spaces.
    pub(super) set: String,
    pub(super) even_if_unfit: String,
    pub(super) target: String,
    /// What stands in place of a suite, if there is a text.
    pub(super) own: Own,
    pub(super) text: String,
    pub(super) file_name: String,
    /// Run before each repeat of commands.
    pub(super) prepare: String,
    /// The description of a rig.
    pub(super) target_text: String,
    pub(super) only: String,
    /// States that take turns: the name and the command of each.
    pub(super) state_a: String,
    pub(super) command_a: String,
    pub(super) state_b: String,
    pub(super) command_b: String,
    pub(super) priority: String,
    /// When to start it again and again; now and once where it is empty.
    pub(super) cron: String,
    /// Whether it is only to be said what would be done.
    pub(super) preview: String,
    /// The order whose plan was shown.
    pub(super) shown: String,
    /// Drawn with the form, so that a form that is sent twice starts one run.
    pub(super) key: String,
}

impl OrderForm {
    pub(super) fn blank(here: &str) -> Self {
        Self { suite: "quick".into(), machines: vec![here.to_owned()], ..Self::default() }
    }

    pub(super) fn of(fields: Vec<(String, String)>) -> Result<Self, BadField> {
        let (machines, others): (Vec<_>, Vec<_>) = fields.into_iter().partition(|(name, _)| name == "machine");
        let form = Self::deserialize(MapDeserializer::new(others.into_iter()))?;
        Ok(Self { machines: machines.into_iter().map(|(_, machine)| machine).collect(), ..form })
    }

    /// What a text in place of a suite may be: the word of each kind, and the message of its title.
    pub(super) const KINDS: [(&str, &str); 3] =
        [("suite", "own-suite"), ("job-file", "own-job-file"), ("commands", "own-commands")];

    pub(super) fn is_of(&self, kind: &str) -> bool {
        let word = match self.own {
            Own::Suite => "suite",
            Own::JobFile => "job-file",
            Own::Commands => "commands",
        };
        word == kind
    }

    pub(super) fn has_own(&self) -> bool {
        !self.text.is_empty() || !self.target_text.is_empty()
    }

    pub(super) fn states(&self) -> [(&str, &str, &str); 2] {
        [("a", &self.state_a, &self.command_a), ("b", &self.state_b, &self.command_b)]
    }

    pub(super) fn has_states(&self) -> bool {
        self.states().into_iter().any(|(_, name, command)| !name.is_empty() || !command.is_empty())
    }

    /// The order with the texts of its files, or the field that is filled in wrongly, with what stands in it.
    pub(super) fn batch(&self) -> Result<(Batch, Vec<String>), (&'static str, String)> {
        let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let repeats = given(&self.repeats).map(|text| text.parse().map_err(|_| ("repeats", text)));
        let sessions = given(&self.sessions).map(|text| text.parse().map_err(|_| ("sessions", text)));
        let scale = given(&self.scale).map(|text| text.parse().map_err(|_| ("scale", text)));
        let priority = given(&self.priority).map(|text| text.parse().map_err(|_| ("priority", text)));
        let variable = |text: &str| match text.split_once('=') {
            Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
            None => Err(("variables", text.to_owned())),
        };
        let sides = [self.a.trim().to_owned(), self.b.trim().to_owned()];
        let states = self
            .states()
            .map(|(_, name, command)| MachineState { name: name.trim().into(), command: command.trim().into() });
        let mut order = Order {
            machine: HERE.into(),
            label: given(&self.label),
            repeats: repeats.transpose()?,
            scale: scale.transpose()?,
            set: self.set.split_whitespace().map(variable).collect::<Result<_, _>>()?,
            only: given(&self.only).into_iter().collect(),
            target: given(&self.target),
            even_if_unfit: !self.even_if_unfit.is_empty(),
            priority: priority.transpose()?.unwrap_or_default(),
            sides: (sides != [const { String::new() }; 2]).then_some(sides),
            ..Order::default()
        };
        // Browsers end lines as mail does.
        let text = |text: &str| Some(text.replace("\r\n", "\n")).filter(|text| !text.trim().is_empty());
        let mut texts = Vec::new();
        let mut file = |name: String, text: String| {
            order.files.insert(name.clone(), digest_of(text.as_bytes()));
            texts.push(text);
            name
        };
        match (self.own, text(&self.text)) {
            (_, None) => order.suite = Some(self.suite.clone()),
            (Own::Suite, Some(text)) => order.suite = Some(file("own.toml".into(), text)),
            (Own::JobFile, Some(text)) => {
                // By its name the run's suite is called.
                let name = given(&self.file_name).filter(|name| is_plain_name(name));
                let name = name.unwrap_or_else(|| "own.fio".into());
                order.job_files = vec![file(name, text)];
            }
            (Own::Commands, Some(text)) => {
                let commands = text.lines().filter_map(given).collect();
                order.timed = Some(Timed { commands, prepare: given(&self.prepare), ..Timed::default() });
            }
        }
        if let Some(command) = given(&self.prepare).filter(|_| order.timed.is_none()) {
            return Err(("prepare", command));
        }
        order.target_file = text(&self.target_text).map(|text| file("rig.toml".into(), text));
        let switch = self.has_states().then_some(states);
        Ok((Batch { order, machines: self.machines.clone(), sessions: sessions.transpose()?, switch }, texts))
    }
}

/// What a text is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Own {
    #[default]
    Suite,
    JobFile,
    Commands,
}
