//! `stend report`: a run, or a comparison, as a page, a table, or drawings.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;
use clap::{Args, ValueEnum as _};
use jiff::Timestamp;
use stend_model::run::Series;

use super::Global;
use super::comparison::{Chosen, FILTER_HELP, Options, RANGE_HELP};
use super::completions;
use super::failure::{Exit, Failure};
use super::output::{self, Format};
use crate::catalogue;
use stend_report::html::Kind;
use stend_report::words::language::Language;
use stend_report::{figures_index, html};
use stend_store::{self, Store};

#[derive(Debug, Args)]
#[command(after_help = format!("{FILTER_HELP}\n\n{RANGE_HELP}"))]
pub(super) struct Arguments {
    /// What to report, named as for `stend compare`; the first run is the base: runs, RUN:SIDE, machines, ranges of a machine's history, and
    /// references. Without references, all references with matching figures are shown
    #[arg(default_value = "last", add = completions::comparable())]
    what: Vec<String>,
    /// The output file, `-` for standard output; with --format svg a directory [default: reports/RUN.html in the store, or reports/RUN+RUN.html]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Output format: a page with table, repeats, samples and drawings; the table of `stend compare`; or drawings as separate files with an index
    #[arg(short, long, value_name = "FORMAT", default_value = "html", value_parser = Format::among(Format::of_reports()))]
    format: Format,
    /// Language of drawings; a page has all, and tables are in English
    #[arg(long, value_name = "LANGUAGE", default_value = "en")]
    language: Language,
    /// The drawings that --format svg writes, separated by commas [default: all but samples]
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    drawings: Vec<Kind>,
    #[command(flatten)]
    options: Options,
    /// Open the result in the browser
    #[arg(long)]
    open: bool,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let to_standard_output = arguments.output.as_deref() == Some(Path::new("-"));
    if to_standard_output && arguments.format == Format::Svg {
        return Err(Failure::usage("drawings are many files: name a directory for them with -o, not \"-\""));
    }
    if to_standard_output && arguments.open {
        return Err(Failure::usage("--open opens a file, and -o - writes none: leave out one of the two"));
    }
    if !arguments.drawings.is_empty() && arguments.format != Format::Svg {
        return Err(Failure::usage("--drawings chooses files of --format svg: give that too; a page has all of them"));
    }
    let options = &arguments.options;
    if options.is_laid_out() && matches!(arguments.format, Format::Html | Format::Svg) {
        return Err(Failure::usage(
            "--row and --column lay out tables: give --format md, csv or json with them; a page has its own order, and drawings have none",
        ));
    }
    let directory = global.store_to_read()?;
    let store = Store::open_to_read(&directory)?;
    let mut chosen = options.choose(global, &store, &arguments.what)?;
    if chosen.references.is_empty() {
        chosen.references = catalogue::references();
    }
    let all_rows = arguments.format != Format::MARKDOWN;
    let table = options.table(global, &chosen, all_rows)?;
    let records = chosen.records();
    let ids: Vec<_> = records.iter().map(|record| record.run.id.as_str()).collect();
    let command = options.report_command(&chosen);
    let path = match &arguments.output {
        Some(_) if to_standard_output => PathBuf::from("/dev/stdout"),
        Some(path) => path.clone(),
        None => {
            let path = output::report_path(&directory, &records, arguments.format.ending())?;
            if arguments.format == Format::Svg {
                stend_store::make_directory(&path)?;
            }
            path
        }
    };
    // Behind the page itself its place would be one line of rubbish.
    let printed = to_standard_output || output::is_standard_output(&path);
    let text = match arguments.format {
        Format::Html => output::page(&output::runs(&records, &series(&store, &chosen)?), &table, &command)?,
        Format::CSV => options.csv(&table),
        Format::Json => output::json("table", &table.for_programs())?,
        Format::Svg => {
            let language = arguments.language;
            let series = series(&store, &chosen)?;
            let runs = output::runs(&records, &series);
            let kinds = if arguments.drawings.is_empty() { &Kind::USUAL[..] } else { &arguments.drawings };
            let figures = html::figures(
                &html::Input { table: &table, runs: &runs, command: &command, generated_at: Timestamp::now() },
                kinds,
                language,
            );
            let figures = figures.context("the drawings cannot be made")?;
            for kind in arguments.drawings.iter().filter(|kind| figures.iter().all(|figure| figure.kind != **kind)) {
                let name = kind.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
                talk!("no {name}: {}", figures_index::why_none(*kind).english());
            }
            output::make_directory(&path)?;
            for figure in &figures {
                output::write(&path.join(format!("{}.svg", figure.name)), figure.svg.as_bytes())?;
            }
            figures_index::render(&figures, &arguments.drawings, &ids, &command, language)
        }
        format => format.of_document(&output::comparison_of(records[0], &table, options.all_metrics), false),
    };
    let file = if arguments.format == Format::Svg { path.join("index.md") } else { path.clone() };
    if to_standard_output {
        output::print_data(&text)?;
    } else {
        output::write(&file, text.as_bytes())?;
    }
    if !printed {
        output::print(&format!("{}\n", path.display()))?;
    }
    if arguments.open { open(&path) } else { Ok(Exit::Fine) }
}

/// The series of all runs.
fn series(store: &Store, chosen: &Chosen) -> Result<Vec<Vec<(u32, Series)>>, Failure> {
    chosen.runs.iter().map(|pool| output::series_of_pool(store, pool)).collect()
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
