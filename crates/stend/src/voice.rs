//! Who speaks on standard error: the program, or while several machines are measured at once, the thread that measures one of them.
//!
//! A thread that speaks for a machine begins its lines with the machine's name, and has one line of the display for what it does now.

use std::cell::RefCell;
use std::fmt;
use std::io::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use stend_stand::host::Terminal;

use stend_model::plain;

thread_local! {
    static VOICE: RefCell<Option<Voice>> = const { RefCell::new(None) };
}

/// How often a display is drawn anew, per second.
const DRAWN_HERTZ: u8 = 5;
/// What a line says while there is nothing to count.
const WORDS_ALONE: &str = "{msg}";

/// The display of several machines: a line each, in the order in which they were named.
pub(crate) struct Display {
    bars: Option<MultiProgress>,
    /// Columns of the longest name.
    width: usize,
}

impl Display {
    /// With `bars`, lines that are redrawn; else nothing but what is said.
    pub(crate) fn new<'n>(bars: bool, names: impl Iterator<Item = &'n str>) -> Self {
        let bars = bars.then(|| MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(DRAWN_HERTZ)));
        Self { bars, width: names.map(unicode_width::UnicodeWidthStr::width).max().unwrap_or(0) }
    }

    /// Takes all lines away.
    pub(crate) fn clear(&self) {
        if let Some(bars) = &self.bars {
            let _ = bars.clear();
        }
    }

    /// The voice of one machine, whose line is the next one.
    pub(crate) fn voice(&self, name: &str) -> Voice {
        let bar = self
            .bars
            .as_ref()
            .map(|bars| bars.add(ProgressBar::new(0).with_prefix(plain::one_line(name).into_owned())));
        let voice = Voice { name: name.to_owned(), bars: self.bars.clone(), bar, width: self.width };
        if let Some(bar) = &voice.bar {
            bar.set_style(voice.style(WORDS_ALONE));
        }
        voice
    }
}

/// The voice of one machine among several.
#[derive(Clone)]
pub(crate) struct Voice {
    name: String,
    bars: Option<MultiProgress>,
    bar: Option<ProgressBar>,
    width: usize,
}

impl Voice {
    /// Speaks for the machine in this thread until what is given back is dropped.
    pub(crate) fn speak(self) -> Speaking {
        VOICE.set(Some(self));
        Speaking(())
    }

    /// The same, of a machine that has no line any more.
    pub(crate) fn without_line(self) -> Self {
        Self { bars: None, bar: None, ..self }
    }

    /// What stands in the machine's line when nothing more happens there.
    pub(crate) fn last_words(&self) -> LastWords {
        LastWords(self.bar.clone())
    }

    fn style(&self, template: &str) -> ProgressStyle {
        style(&format!("{{prefix:{}}}  {template}", self.width))
    }

    fn say(&self, words: &str) {
        let own = words.strip_prefix(&self.name).is_some_and(|rest| rest.starts_with(':'));
        let line = if own { format!("{words}\n") } else { format!("{}: {words}\n", self.name) };
        match &self.bars {
            Some(bars) => bars.suspend(|| write(&line)),
            None => write(&line),
        }
    }
}

/// What stands in a machine's line at the end.
pub(crate) struct LastWords(Option<ProgressBar>);

impl LastWords {
    pub(crate) fn say(&self, words: &str) {
        if let Some(bar) = &self.0 {
            bar.abandon_with_message(plain::one_line(words).into_owned());
        }
    }
}

/// As long as it is there, the thread speaks for a machine.
pub(crate) struct Speaking(());

impl Drop for Speaking {
    fn drop(&mut self) {
        VOICE.set(None);
    }
}

/// Says a line on standard error. That nobody listens any more is no reason to end a run.
pub(crate) fn say(words: fmt::Arguments) {
    let words = words.to_string();
    VOICE.with_borrow(|voice| match voice {
        Some(voice) => voice.say(&words),
        None => write(&format!("{words}\n")),
    });
}

fn write(line: &str) {
    let line = &*plain::lines(line);
    match &mut *held() {
        Some(kept) => kept.push_str(line),
        None => drop(std::io::stderr().write_all(line.as_bytes())),
    }
}

/// What is said while somebody else has the terminal, if somebody has.
static HELD: Mutex<Option<String>> = Mutex::new(None);
/// Held by the thread for which somebody else has it.
static TERMINAL: Mutex<()> = Mutex::new(());

fn held() -> MutexGuard<'static, Option<String>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The terminal that the program speaks at, for ssh to ask at.
pub(crate) struct AtTheTerminal;

impl Terminal for AtTheTerminal {
    /// Whether this thread speaks for one of several machines.
    fn is_shared(&self) -> bool {
        VOICE.with_borrow(Option::is_some)
    }

    fn is_there(&self) -> bool {
        std::fs::File::open("/dev/tty").is_ok()
    }

    /// Displays are not drawn meanwhile, and what other threads say comes afterwards. Another such deed waits for its turn.
    fn alone(&self, what: &str, deed: &mut dyn FnMut()) {
        let _turn = TERMINAL.lock().unwrap_or_else(PoisonError::into_inner);
        let bars = VOICE.with_borrow(|voice| voice.as_ref()?.bars.clone());
        if let Some(bars) = &bars {
            let _ = bars.clear();
            bars.set_draw_target(ProgressDrawTarget::hidden());
        }
        say(format_args!("{what}"));
        *held() = Some(String::new());
        deed();
        let said = held().take().unwrap_or_default();
        write(&said);
        if let Some(bars) = &bars {
            bars.set_draw_target(ProgressDrawTarget::stderr_with_hz(DRAWN_HERTZ));
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is right").progress_chars("━╸─")
}

/// A line that is redrawn: of its own, or the machine's among several.
pub(crate) struct Line {
    bar: ProgressBar,
    is_own: bool,
}

impl Line {
    /// `template` says what stands in it, as indicatif has it.
    pub(crate) fn new(template: &str) -> Self {
        let shared = VOICE.with_borrow(|voice| {
            let voice = voice.as_ref()?;
            let bar = voice.bar.clone()?;
            bar.set_style(voice.style(template));
            Some(bar)
        });
        let is_own = shared.is_none();
        let bar = shared.unwrap_or_else(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(DRAWN_HERTZ));
            bar.set_style(style(template));
            bar
        });
        Self { bar, is_own }
    }

    /// A line that says something and counts nothing.
    pub(crate) fn of_words(words: &str) -> Self {
        let line = Self::new(WORDS_ALONE);
        line.show(words);
        line
    }

    /// What stands in it now.
    pub(crate) fn show(&self, words: &str) {
        self.bar.set_message(plain::one_line(words).into_owned());
    }

    /// How much of how much is done.
    pub(crate) fn count(&self, done: usize, of: usize) {
        self.bar.set_length(of as u64);
        self.bar.set_position(done as u64);
    }

    /// Says something above the line.
    pub(crate) fn say(&self, words: &str) {
        if self.is_own { self.bar.suspend(|| say(format_args!("{words}"))) } else { say(format_args!("{words}")) }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if self.is_own {
            self.bar.finish_and_clear();
        } else {
            VOICE.with_borrow(|voice| {
                if let Some(voice) = voice {
                    self.bar.set_style(voice.style(WORDS_ALONE));
                }
            });
            self.bar.set_message("");
        }
    }
}
