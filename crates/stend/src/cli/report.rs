//! `stend report`: a run, or several side by side, as a page, a table, or drawings.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use jiff::Timestamp;

use super::Global;
use super::failure::{Exit, Failure};
use super::output::{self, Spoken};
use super::shape::{FILTER_HELP, Shape, refused_as_twice};
use crate::catalogue;
use crate::compare::table::Note;
use crate::machine;
use crate::report::{csv, figures_index, html, markdown};
use crate::store::Store;

#[derive(Debug, Args)]
#[command(after_help = FILTER_HELP)]
pub(super) struct Arguments {
    /// Runs, the first of which is the base; RUN:SIDE is one side of a run
    #[arg(default_value = "last")]
    runs: Vec<String>,
    /// The file to write, `-` for standard output; with --format svg a directory [default: reports/RUN.html in the store, or
    /// reports/RUN+RUN.html]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// What to write
    #[arg(short, long, value_name = "FORMAT", default_value = "html")]
    format: Format,
    /// The language of drawings; a page has both, and tables are English
    #[arg(long, value_name = "LANGUAGE", default_value = "en")]
    language: Spoken,
    #[command(flatten)]
    shape: Shape,
    /// Open what was written, in the browser
    #[arg(long)]
    open: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One page with table, repeats, samples and drawings, which needs no network
    Html,
    /// The table for a page or a pull request, as `stend compare --format md` prints it; or: markdown
    #[value(alias = "markdown")]
    Md,
    /// Every figure with its evidence, for a spreadsheet
    Csv,
    /// The same for programs
    Json,
    /// Each drawing as a file of its own, for papers, with an index
    Svg,
}

impl Format {
    /// The end of a file's name; of a directory's for drawings.
    fn ending(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Md => "md",
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Svg => "figures",
        }
    }
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let to_standard_output = arguments.output.as_deref() == Some(Path::new("-"));
    if to_standard_output && arguments.format == Format::Svg {
        return Err(Failure::usage("drawings are many files: name a directory for them with -o, not \"-\""));
    }
    if to_standard_output && arguments.open {
        return Err(Failure::usage("--open opens a file, and -o - writes none: leave out one of the two"));
    }
    let directory = global.store_directory()?;
    let store = Store::open_to_read(&directory)?;
    let mut records = Vec::new();
    for wanted in &arguments.runs {
        records.extend(output::load(&store, wanted)?);
    }
    if let Some(baseline) = &arguments.shape.baseline {
        let id = store.resolve(baseline)?;
        let place = records.iter().position(|record| record.run.stored_id() == id);
        let place = place.ok_or_else(|| {
            let ids: Vec<_> = records.iter().map(|record| record.run.id.as_str()).collect();
            Failure::usage(format!("--baseline \"{baseline}\" is not among what is reported: {}", ids.join(", ")))
        })?;
        records[..=place].rotate_right(1);
    }
    let all = records.iter().collect::<Vec<_>>();
    if let Some(refusal) = refused_as_twice(&all) {
        return Err(Failure::usage(refusal));
    }
    let references = catalogue::references();
    let filter = arguments.shape.filter()?;
    let mut table = arguments.shape.table(&store, &all, &references, &filter)?;
    output::weigh_known(global, &mut table, &all, &references)?;
    if let Some(only) = arguments.shape.only {
        table.only = Some(only);
        let (of, shown) = (table.rows.len(), table.rows.iter().filter(|row| table.is_asked_for(row)).count());
        table.notes.push(Note::OnlyRows { only, shown, of });
    }
    let ids: Vec<_> = records.iter().map(|record| record.run.id.as_str()).collect();
    let path = match &arguments.output {
        Some(_) if to_standard_output => PathBuf::from("/dev/stdout"),
        Some(path) => path.clone(),
        None => output::report_path(&directory, &all, arguments.format.ending()),
    };
    // Behind the page itself its place would be one line of rubbish.
    let printed = to_standard_output || output::is_standard_output(&path);
    let text = match arguments.format {
        Format::Html => output::page(&store, &records, &table)?,
        Format::Md => markdown::render(&table, &machine::five_lines(&records[0].run.machine), false),
        Format::Csv => csv::render(&table),
        Format::Json => output::json("table", &table.for_programs())?,
        Format::Svg => {
            let language = arguments.language.into();
            let figures = output::with_series(&store, &records, |runs| {
                html::figures(&html::Input { table: &table, runs, generated_at: Timestamp::now() }, language)
            })?;
            let figures = figures.context("the drawings cannot be made")?;
            for figure in &figures {
                output::write(&path.join(format!("{}.svg", figure.name)), figure.svg.as_bytes())?;
            }
            figures_index::render(&figures, &ids)
        }
    };
    let file = if arguments.format == Format::Svg { path.join("index.md") } else { path.clone() };
    if to_standard_output {
        output::print(&text)?;
    } else {
        output::write(&file, text.as_bytes())?;
    }
    if !printed {
        output::print(&format!("{}\n", path.display()))?;
    }
    if arguments.open { open(&path) } else { Ok(Exit::Fine) }
}

/// Opens a file with what the desktop has for it.
fn open(path: &Path) -> Result<Exit, Failure> {
    const OPENER: &str = "xdg-open";
    let shown = path.display();
    let spawned =
        Command::new(OPENER).arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    match spawned {
        Ok(status) if status.success() => Ok(Exit::Fine),
        Ok(_) => Err(Failure::unusable(format!("{OPENER} found nothing that opens it; open {shown} yourself"))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(Failure::unusable(format!(
            "{OPENER} is not on the PATH (apt-get install xdg-utils); open {shown} yourself"
        ))),
        Err(error) => Err(Failure::unusable(format!("{OPENER} does not start ({error}); open {shown} yourself"))),
    }
}
