//! What several commands print: JSON, the table, the report's place.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use jiff::Timestamp;
use serde::Serialize;
use stend_model::identity::identity_of;
use stend_model::record::JSON_VERSION;
use stend_model::record::Record;
use stend_model::reference::Reference;
use stend_model::run::Series;

use super::Global;
use super::failure::Failure;
use crate::catalogue;
use stend_compare::compare_what;
use stend_compare::filter::Filter;
use stend_compare::pool::Pool;
use stend_compare::sides::{NoSuchSide, view, views};
use stend_compare::table::Table;
use stend_compare::weighing::{facts, weigh};
use stend_model::plain;
use stend_report::doc::{Doc, Form, NARROWEST};
use stend_report::words;
use stend_report::{comparison, csv, html, sequences, shell_words};
use stend_store::{self, Store, StoreError};

/// How something is written. Each command writes some of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// One of those that every document has.
    Document(Form),
    /// A page.
    Html,
    /// The data.
    Json,
    /// Drawings.
    Svg,
}

impl Format {
    pub(super) const TABLE: Self = Self::Document(Form::Table);
    pub(super) const MARKDOWN: Self = Self::Document(Form::Markdown);
    pub(super) const CSV: Self = Self::Document(Form::Csv);

    /// In these a document is printed.
    pub(super) fn of_documents() -> Vec<Self> {
        Form::value_variants().iter().map(|form| Self::Document(*form)).chain([Self::Json]).collect()
    }

    /// In these a report is written.
    pub(super) fn of_reports() -> Vec<Self> {
        let files = Self::of_documents().into_iter().filter(|format| *format != Self::TABLE);
        [Self::Html].into_iter().chain(files).chain([Self::Svg]).collect()
    }

    /// In these a history is shown or written.
    pub(super) fn of_histories() -> Vec<Self> {
        Self::of_documents().into_iter().chain([Self::Svg, Self::Html]).collect()
    }

    /// What reads those of them that a command writes.
    pub(super) fn among(formats: Vec<Self>) -> impl TypedValueParser<Value = Self> {
        PossibleValuesParser::new(formats.iter().map(|format| format.named())).try_map(move |name| {
            let is_it = |format: &&Self| format.named().matches(&name, false);
            formats.iter().find(is_it).copied().ok_or("no such format")
        })
    }

    fn named(self) -> PossibleValue {
        match self {
            Self::Document(form) => form.to_possible_value().expect("no format is hidden"),
            Self::Html => PossibleValue::new("html").help("An HTML page in both languages; needs no network"),
            Self::Json => PossibleValue::new("json").help("JSON for programs: the same data"),
            Self::Svg => PossibleValue::new("svg").help("Drawings as SVG"),
        }
    }

    /// The end of a file's name; of a directory's for drawings.
    pub(super) fn ending(self) -> &'static str {
        match self {
            Self::Document(form) => form.ending(),
            Self::Html => "html",
            Self::Json => "json",
            Self::Svg => "figures",
        }
    }

    /// A document in it, or for a terminal where it is a format of something else.
    pub(super) fn of_document(self, document: &Doc, colour: bool) -> String {
        let form = if let Self::Document(form) = self { form } else { Form::Table };
        form.write(document, width(), colour)
    }
}

/// The width of a table that does not go to a terminal.
const WIDTH_OF_A_PAGE: usize = 100;

/// `--json`.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct Json {
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// `--format` and `--json` of a command that shows a document.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct Shown {
    /// Output format [default: table]
    #[arg(long, value_name = "FORMAT", value_parser = Format::among(Format::of_documents()))]
    format: Option<Format>,
    #[command(flatten)]
    json: Json,
}

impl Shown {
    /// The format that was asked for.
    pub(super) fn format(self) -> Result<Format, Failure> {
        Ok(chosen_format(self.format, self.json)?.unwrap_or(Format::TABLE))
    }

    pub(super) fn is_json(self) -> bool {
        matches!(self.format(), Ok(Format::Json))
    }

    /// Prints a document, or as JSON the facts that it is made of.
    pub(super) fn print(
        self,
        global: &Global,
        name: &str,
        facts: &impl Serialize,
        document: impl FnOnce() -> Doc,
    ) -> Result<(), Failure> {
        match self.format()? {
            Format::Json => print_json(name, facts),
            format => print_document(global, format, &document()),
        }
    }
}

/// Prints a document.
pub(super) fn print_document(global: &Global, format: Format, document: &Doc) -> Result<(), Failure> {
    let text = format.of_document(document, global.colour());
    if format == Format::TABLE { print_styled(&text) } else { print_data(&text) }
}

/// A format that was asked for, with `--json` for one of them. `None`: nothing was asked for.
///
/// # Errors
/// Two different ones were.
pub(super) fn chosen_format(format: Option<Format>, json: Json) -> Result<Option<Format>, Failure> {
    match format {
        Some(format) if json.json && format != Format::Json => Err(Failure::usage(
            "--json is --format json, and another format is requested too: leave out one of the two",
        )),
        _ if json.json => Ok(Some(Format::Json)),
        _ => Ok(format),
    }
}

/// Prints a value as JSON, in an object with the version of its shape.
pub(super) fn print_json(name: &str, value: &impl Serialize) -> Result<(), Failure> {
    print_data(&json(name, value)?)
}

/// The same of several, each field of which has a name.
pub(super) fn print_parts(parts: &impl Serialize) -> Result<(), Failure> {
    print_data(&versioned(parts)?)
}

/// A value as JSON, in an object with the version of its shape.
pub(super) fn json(name: &str, value: &impl Serialize) -> Result<String, Failure> {
    versioned(&BTreeMap::from([(name, value)]))
}

fn versioned(parts: &impl Serialize) -> Result<String, Failure> {
    #[derive(Serialize)]
    struct Versioned<'a, T> {
        schema_version: u32,
        #[serde(flatten)]
        parts: &'a T,
    }
    let object = serde_json::to_value(Versioned { schema_version: JSON_VERSION, parts });
    let object = object.context("this cannot be written as JSON")?;
    Ok(serde_json::to_string_pretty(&object).context("this cannot be written as JSON")? + "\n")
}

/// Prints text for people. Nothing that it may have from elsewhere does anything to their terminal.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    Ok(put(plain::lines(text).as_bytes())?)
}

/// The same of text with styles.
pub(super) fn print_styled(text: &str) -> Result<(), Failure> {
    Ok(put(plain::styled_lines(text, &sequences()).as_bytes())?)
}

/// Prints what programs read, and only a terminal gets in another form.
pub(super) fn print_data(text: &str) -> Result<(), Failure> {
    Ok(put_data(text.as_bytes())?)
}

fn put(bytes: &[u8]) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush())
}

fn put_data(bytes: &[u8]) -> std::io::Result<()> {
    match str::from_utf8(bytes) {
        Ok(text) if std::io::stdout().is_terminal() => put(plain::lines(text).as_bytes()),
        _ => put(bytes),
    }
}

/// This program as it was called, for commands that a user is told to type: `make run` calls it by a path, and then `stend` alone
/// is not on the PATH; and with another store than the usual one, or with a server, what it is told of would not be found in that.
pub(super) fn program() -> String {
    let mut words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let called = words.next().filter(|name| !name.is_empty());
    let mut typed = vec![called.unwrap_or_else(|| "stend".into())];
    let is_lab = |word: &str| ["--store", "--server"].contains(&word.split('=').next().unwrap_or_default());
    let store = words.by_ref().find(|word| is_lab(word));
    let directory = words.next().filter(|_| store.as_ref().is_some_and(|store| !store.contains('=')));
    typed.extend(store.into_iter().chain(directory));
    shell_words(&typed)
}

/// The width that a table may have: the terminal's; where the table goes elsewhere what COLUMNS says, or that of a page.
pub(super) fn width() -> usize {
    if !std::io::stdout().is_terminal() {
        let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        return columns.filter(|columns| *columns > 0).unwrap_or(WIDTH_OF_A_PAGE);
    }
    let columns = rustix::termios::tcgetwinsize(std::io::stdout()).map(|size| usize::from(size.ws_col));
    // A terminal that does not know its width says none.
    columns.ok().filter(|columns| *columns > 0).map_or(WIDTH_OF_A_PAGE, |columns| columns.max(NARROWEST))
}

/// Prints a comparison; JSON is for the caller, who knows what else belongs to it.
pub(super) fn print_table(
    global: &Global,
    format: Format,
    base: &Record,
    table: &Table,
    all_metrics: bool,
) -> Result<(), Failure> {
    match format {
        Format::CSV => print_data(&csv::render(table)),
        format => print_document(global, format, &comparison_of(base, table, all_metrics)),
    }
}

/// A comparison with the fingerprint of the base's machine over it.
pub(super) fn comparison_of(base: &Record, table: &Table, all_metrics: bool) -> Doc {
    comparison::document(table, &words::machine::five_lines(&base.run.machine), all_metrics)
}

/// A run set beside every published machine, or the sides of one beside each other.
pub(super) fn table_of(views: &[Record]) -> Table {
    let references = if views.len() == 1 { catalogue::references() } else { Vec::new() };
    compare_what(&views.iter().collect::<Vec<_>>(), &references, &Filter::default())
}

/// Why there is nothing to show.
pub(super) enum NotLoaded {
    /// The store does not have it.
    Store(StoreError),
    /// The run does not have the side.
    NoSuchSide(NoSuchSide),
}

impl From<StoreError> for NotLoaded {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<NotLoaded> for Failure {
    fn from(why: NotLoaded) -> Self {
        match why {
            NotLoaded::Store(error) => error.into(),
            NotLoaded::NoSuchSide(why) => Self::usage(why),
        }
    }
}

/// What a person names by `RUN`, or by `RUN:SIDE`: a run, both of its sides if it has any, or one.
pub(super) fn load(store: &Store, wanted: &str) -> Result<Vec<Record>, NotLoaded> {
    match wanted.split_once(':') {
        None => Ok(views(store.load(&store.resolve(wanted)?)?)),
        Some((run, side)) => {
            let record = store.load(&store.resolve(run)?)?;
            view(&record, side).map(|record| vec![record]).map_err(NotLoaded::NoSuchSide)
        }
    }
}

/// Writes the page of these runs or sides, the first of which is the base, and gives its path.
pub(super) fn write_report(store: &Store, records: &[Record], table: &Table, to: &Path) -> Result<PathBuf, Failure> {
    let series: Vec<_> = records.iter().map(|record| series_of(store, record)).collect::<Result<_, _>>()?;
    let records: Vec<_> = records.iter().collect();
    let stored: BTreeSet<&str> = records.iter().map(|record| record.run.stored_id()).collect();
    let command: Vec<String> = ["stend", "report"].into_iter().chain(stored).map(str::to_owned).collect();
    let page = page(&runs(&records, &series), table, &shell_words(&command))?;
    if let Some(reports) = to.parent() {
        make_directory(reports)?;
    }
    write(to, page.as_bytes())?;
    Ok(to.to_owned())
}

/// Weighs a comparison by what is known of what its machines draw and cost.
pub(super) fn weigh_known(
    global: &Global,
    table: &mut Table,
    records: &[&Record],
    references: &[Reference],
) -> Result<(), Failure> {
    let files = catalogue::machines(&[], &global.store_directory()?).map_err(Failure::usage)?;
    table.weighings = weigh(table, &facts(table, records, references, &files));
    Ok(())
}

/// The page of these runs, the first of which is the base, and the command that writes it.
pub(super) fn page(runs: &[html::RunData], table: &Table, command: &str) -> Result<String, Failure> {
    let page = html::render(&html::Input { table, runs, command, generated_at: Timestamp::now() });
    Ok(page.context("the report cannot be made")?)
}

/// The series of a run, or of one of its sides, each with the sequence number of its repeat.
fn series_of(store: &Store, record: &Record) -> Result<Vec<(u32, Series)>, Failure> {
    let mut series = store.series(record.run.stored_id())?;
    let is_own = |sequence: u32| record.repeats.binary_search_by_key(&sequence, |repeat| repeat.sequence).is_ok();
    series.retain(|(sequence, _)| is_own(*sequence));
    Ok(series)
}

/// The same of runs that stand together as one.
pub(super) fn series_of_pool(store: &Store, pool: &Pool) -> Result<Vec<(u32, Series)>, Failure> {
    if pool.runs.len() == 1 {
        return series_of(store, &pool.record);
    }
    let mut series = Vec::new();
    for (run, first) in pool.runs.iter().zip(&pool.first_sequences) {
        series.extend(store.series(run)?.into_iter().map(|(sequence, series)| (first + sequence, series)));
    }
    Ok(series)
}

/// Runs with their series, for a page or drawings.
pub(super) fn runs<'a>(records: &[&'a Record], series: &'a [Vec<(u32, Series)>]) -> Vec<html::RunData<'a>> {
    let run = |(record, series): (&&'a Record, &'a Vec<(u32, Series)>)| html::RunData {
        run: &record.run,
        sessions: &record.sessions,
        repeats: &record.repeats,
        series,
        profiles: &record.profiles,
        job: stend_instrument::job,
    };
    records.iter().zip(series).map(run).collect()
}

/// Makes a directory where there is none. The one that it lies in must be there: where it is not, the path is mistyped.
pub(super) fn make_directory(path: &Path) -> Result<(), Failure> {
    check_parent(path)?;
    match std::fs::create_dir(path) {
        Err(_) if path.is_dir() => Ok(()),
        made => Ok(made.with_context(|| format!("{} cannot be made", path.display()))?),
    }
}

/// That a file or directory can be made there.
///
/// # Errors
/// There is no directory for it.
fn check_parent(path: &Path) -> Result<(), Failure> {
    match path.parent().filter(|parent| !parent.as_os_str().is_empty() && !parent.is_dir()) {
        Some(parent) => Err(Failure::usage(format!(
            "{} cannot be written: {} is not a directory; make it first",
            path.display(),
            parent.display()
        ))),
        None => Ok(()),
    }
}

/// Writes a file into a directory that is there.
pub(super) fn write(to: &Path, contents: &[u8]) -> Result<(), Failure> {
    check_parent(to)?;
    replace(to, contents).with_context(|| format!("{} cannot be written", to.display()))?;
    Ok(())
}

/// Writes a file so that there is the old one or the whole new one at any moment, where there can be.
pub(super) fn replace(path: &Path, contents: &[u8]) -> std::io::Result<()> {
    if is_standard_output(path) {
        // Opened anew it would have a place of its own in the file that it may be, and what is printed next would stand in the page.
        return put_data(contents);
    }
    // Another open file, like /dev/fd/3, is not this program's to empty or to replace.
    if leads_through_proc(path) {
        return OpenOptions::new().append(true).open(path)?.write_all(contents);
    }
    // A link goes on being one. A terminal or a pipe can only be written to.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return std::fs::write(&path, contents);
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let written = match std::fs::write(&part, contents) {
        Ok(()) => std::fs::rename(&part, &path),
        // Nothing can be made beside it, but perhaps it can be written itself.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem | ErrorKind::InvalidFilename
            ) =>
        {
            return std::fs::write(&path, contents);
        }
        Err(error) => Err(error),
    };
    if written.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    written
}

/// Whether a path is what standard output goes to, by whatever name.
pub(super) fn is_standard_output(path: &Path) -> bool {
    let out = rustix::fs::fstat(std::io::stdout());
    out.is_ok_and(|out| {
        rustix::fs::stat(path).is_ok_and(|there| (there.st_dev, there.st_ino) == (out.st_dev, out.st_ino))
    })
}

/// Whether a path, or a link that it is, names an open file of some process: such a link leads to the file itself.
fn leads_through_proc(path: &Path) -> bool {
    const MOST_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if directory.canonicalize().is_ok_and(|directory| directory.starts_with("/proc")) {
            return true;
        }
        let Ok(target) = path.read_link() else { return false };
        path = directory.join(target);
    }
    false
}

/// Where the report of these runs is written unless the user says otherwise; its name ends as given. Its directory is made, and is the
/// user's alone: through a link that somebody else put there the report would go over any file of the user's.
pub(super) fn report_path(store_directory: &Path, runs: &[&Record], ending: &str) -> Result<PathBuf, StoreError> {
    /// Names of files may have 255 bytes; of more runs than fit there the rest is a digest.
    const MOST_NAMED: usize = 8;
    let mut names: Vec<String> = Vec::new();
    for record in runs {
        let (id, stored) = (&record.run.id, record.run.stored_id());
        // Both sides of a run have its name. The label of one alone may hold anything, so a digest stands for it.
        match runs.iter().filter(|other| other.run.stored_id() == stored && other.run.id != *id).count() {
            _ if id == stored => names.push(id.clone()),
            0 => names.push(format!("{stored}-{}", &identity_of(id)[..8])),
            _ if names.iter().any(|name| name == stored) => {}
            _ => names.push(stored.to_owned()),
        }
    }
    let mut name = names.iter().take(MOST_NAMED).map(String::as_str).collect::<Vec<_>>().join("+");
    if names.len() > MOST_NAMED {
        name = format!("{name}+{}", &identity_of(&names)[..16]);
    }
    let directory = store_directory.join("reports");
    stend_store::make_directory(&directory)?;
    Ok(directory.join(format!("{name}.{ending}")))
}
