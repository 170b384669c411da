//! The pages that people read: every link within the project leads somewhere, the README says the same in both languages,
//! and the commands that it names are there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|why| panic!("{name}: {why}"))
}

/// The files below a folder of the project: not what was built there, nor what a link shows a second time.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, kind, name) = (entry.path(), entry.file_type().unwrap(), entry.file_name());
        // Sources may lie in a folder of that name too.
        let built = name == "build" || name == ".git" || name == "target" && folder.join("Cargo.toml").exists();
        if kind.is_dir() && !built {
            files(&path, found);
        } else if kind.is_file() {
            found.push(path);
        }
    }
}

/// The pages among them.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    files(folder, &mut found);
    found.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    found
}

/// What stands in `](…)`, outside of blocks of code.
fn links(text: &str) -> Vec<String> {
    let prose = text.split("```").step_by(2).collect::<String>();
    prose.split("](").skip(1).filter_map(|rest| rest.split(')').next()).map(str::to_owned).collect()
}

#[test]
fn links_lead_somewhere() {
    let found = pages(&root());
    assert!(found.len() > 10, "{found:?}");
    let dead: Vec<String> = found
        .iter()
        .flat_map(|path| {
            let folder = path.parent().unwrap();
            links(&fs::read_to_string(path).unwrap())
                .into_iter()
                .filter(|link| !link.contains("://") && !link.starts_with('#') && !link.starts_with("mailto:"))
                .filter(move |link| !folder.join(link.split('#').next().unwrap()).exists())
                .map(|link| format!("{}: {link}", path.display()))
                .collect::<Vec<_>>()
        })
        .collect();
    assert!(dead.is_empty(), "links that lead nowhere: {dead:#?}");
}

/// Paths of sources in the prose: each ends the path of some file.
#[test]
fn sources_that_documents_name_are_there() {
    const ENDINGS: [&str; 9] = ["rs", "c", "h", "ftl", "sh", "mk", "js", "mjs", "html"];
    let mut all = Vec::new();
    files(&root(), &mut all);
    let is_source = |text: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
        let ending = text.rsplit_once('.').map(|(_, ending)| ending);
        text.contains('/') && text.chars().all(plain) && ending.is_some_and(|ending| ENDINGS.contains(&ending))
    };
    let mut gone = Vec::new();
    for document in &pages(&root().join("docs")) {
        let text = fs::read_to_string(document).unwrap();
        let prose = text.split("```").step_by(2).collect::<String>();
        for named in prose.split('`').skip(1).step_by(2).filter(|named| is_source(named)) {
            if !all.iter().any(|path| path.ends_with(named.trim_start_matches(['.', '/']))) {
                gone.push(format!("{}: {named}", document.display()));
            }
        }
    }
    assert!(gone.is_empty(), "sources that are not there: {gone:#?}");
}

/// `make bench-…` writes tables to files, and from these into the pages: between `<!-- FILE -->` and `<!-- /FILE -->`.
#[test]
fn tables_that_were_measured_are_in_the_pages_as_in_their_files() {
    let mut tables = 0;
    for path in pages(&root().join("docs")) {
        let text = fs::read_to_string(&path).unwrap();
        for mark in text.lines().filter_map(|line| line.strip_prefix("<!-- ")?.strip_suffix(" -->")) {
            let Some((_, rest)) = text.split_once(&format!("<!-- {mark} -->\n")) else { continue };
            let Some((shown, _)) = rest.split_once(&format!("<!-- /{mark} -->\n")) else { continue };
            let measured = fs::read_to_string(path.parent().unwrap().join(mark));
            assert_eq!(measured.ok().as_deref(), Some(shown), "{mark} in {}", path.display());
            tables += 1;
        }
    }
    assert!(tables > 4, "{tables}");
}

/// Whoever reads the gallery fetches all of it.
#[test]
fn every_drawing_of_the_gallery_is_there_and_small() {
    const MOST_BYTES: u64 = 60_000;
    let named: BTreeSet<String> = links(&page("docs/guide/gallery.md"))
        .into_iter()
        .filter_map(|link| link.strip_prefix("gallery/").map(str::to_owned))
        .collect();
    let there: BTreeSet<String> = fs::read_dir(root().join("docs/guide/gallery"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(named, there, "the page and the folder have the same files");
    assert!(named.len() > 10, "{named:?}");
    for name in named.iter().filter(|name| name.ends_with(".svg")) {
        let path = root().join("docs/guide/gallery").join(name);
        let (text, bytes) = (fs::read_to_string(&path).unwrap(), fs::metadata(&path).unwrap().len());
        assert!(bytes <= MOST_BYTES, "{name} has {bytes} bytes");
        assert!(text.contains("<svg ") && text.trim_end().ends_with("</svg>"), "{name} is no whole drawing");
    }
}

/// Blocks of code, without the comments behind commands: those are in the reader's language.
fn blocks(text: &str) -> Vec<String> {
    let without_comment = |line: &str| line.split(" # ").next().unwrap().trim_end().to_owned();
    text.split("```")
        .skip(1)
        .step_by(2)
        .map(|block| block.lines().map(without_comment).collect::<Vec<_>>().join("\n"))
        .collect()
}

/// What stands between backticks outside of blocks of code.
fn words(text: &str) -> BTreeSet<String> {
    let prose = text.split("```").step_by(2).collect::<String>();
    prose.lines().flat_map(|line| line.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

#[test]
fn the_readme_says_the_same_in_both_languages() {
    let (english, russian) = (page("README.md"), page("README.ru.md"));
    assert_eq!(blocks(&english), blocks(&russian));
    assert_eq!(words(&english), words(&russian));
    assert_eq!(english.matches("\n## ").count(), russian.matches("\n## ").count());
}

#[test]
fn the_readme_names_commands_that_there_are() {
    let commands: BTreeSet<String> = words(&page("README.md"))
        .iter()
        .filter_map(|words| words.strip_prefix("stend "))
        .map(|words| words.split([' ', ',']).next().unwrap().to_owned())
        .collect();
    assert!(commands.len() > 8, "{commands:?}");
    for command in commands {
        let output = Command::new(env!("CARGO_BIN_EXE_stend")).args([&command, "--help"]).output().unwrap();
        assert!(output.status.success(), "stend {command}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// make gives the words of its command to those that it starts, where they would replace variables of the same name.
#[test]
fn the_names_of_tests_that_make_is_given_do_not_get_to_the_c_folders() {
    let page = page("docs/design/testing.md");
    let (_, rest) = page.split_once("make test-lab ").unwrap();
    let (word, _) = rest.split_once('`').unwrap();
    let word = word.replace('\'', "");
    assert!(word.contains(":: "), "{word}");
    for folder in ["kuzma", "pipe-writer", "morse", "probe"] {
        let mut make = Command::new("make");
        make.args(["--dry-run", "--directory", folder, "all", &word]).current_dir(root());
        let ended = make.env_remove("MAKEFLAGS").output().unwrap();
        assert!(ended.status.success(), "{folder}: {}", String::from_utf8_lossy(&ended.stderr));
    }
}

/// Whoever reads on may want to run it.
#[test]
fn suites_that_the_pages_show_can_be_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("suite.toml");
    for name in ["docs/guide/ab.md", "docs/reference/compare.md", "docs/reference/suites.md"] {
        let text = page(name);
        let suites: Vec<_> = text
            .split("```toml\n")
            .skip(1)
            .filter_map(|rest| rest.split("```").next().filter(|block| block.contains("[[scenario]]")))
            .collect();
        assert!(!suites.is_empty(), "{name}");
        for suite in suites {
            fs::write(&file, suite).unwrap();
            let output = Command::new(env!("CARGO_BIN_EXE_stend")).arg("suites").arg(&file).output().unwrap();
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

/// The long options of a command, as its help has them.
fn options(command: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_stend")).args([command, "--help"]).output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let names = lines.filter_map(|line| line.split([' ', ',', '=']).find(|word| word.starts_with("--")));
    names.map(str::to_owned).collect()
}

/// The names in a declaration of fields: `run: String, factor: f64`.
fn fields(text: &str) -> impl Iterator<Item = String> {
    let before_colons = text.split(": ").map(|part| part.rsplit([' ', '{']).next().unwrap_or_default().to_owned());
    let count = text.matches(": ").count();
    before_colons.take(count).filter(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
}

fn snake_case(name: &str) -> String {
    let mut out = String::new();
    for (place, character) in name.char_indices() {
        if character.is_uppercase() && place > 0 {
            out.push('_');
        }
        out.extend(character.to_lowercase());
    }
    out
}

/// What JSON has of the types of a source file: names of fields, and of variants.
fn serialized(file: &str) -> BTreeSet<String> {
    let (mut found, mut inside, mut skipped) = (BTreeSet::new(), false, false);
    for line in page(file).lines() {
        let text = line.trim_start();
        if line.starts_with("#[derive(") {
            inside = line.contains("Serialize");
        } else if line.starts_with('}') {
            inside = false;
        } else if text.starts_with("#[serde(skip)]") || text.starts_with("#[serde(flatten)]") {
            skipped = true;
        } else if inside && line.starts_with("    ") && !text.starts_with(['#', '/']) && !std::mem::take(&mut skipped) {
            let declared = text.trim_start_matches("pub(crate) ");
            let name = declared.split([' ', ',', '(', ':']).next().unwrap();
            if name.starts_with(|c: char| c.is_uppercase()) {
                found.insert(snake_case(name));
            }
            found.extend(fields(declared));
        }
    }
    found
}

#[test]
fn the_page_on_comparing_has_every_option_every_column_and_every_field() {
    let text = page("docs/reference/compare.md");
    let named = words(&text);
    let missing = |wanted: BTreeSet<String>, is_named: &dyn Fn(&str) -> bool| -> Vec<String> {
        assert!(wanted.len() > 8, "{wanted:?}");
        wanted.into_iter().filter(|name| !is_named(name)).collect()
    };
    let begins = |option: &str| named.iter().any(|word| word.split(' ').next() == Some(option));
    let mut all = options("compare");
    all.remove("--help");
    assert_eq!(missing(all.clone(), &begins), [""; 0], "options that the page does not have");
    let unknown = named.iter().filter_map(|word| word.split([' ', '=']).next()).filter(|word| word.starts_with("--"));
    let unknown: Vec<_> = unknown.filter(|word| !all.contains(*word)).collect();
    assert!(unknown.is_empty(), "options that there are not: {unknown:?}");

    let (stand, mould) = crate::common::with_mould();
    let run = |id: &str, middle: f64| mould.run(id, &[("x", crate::common::forge::times(middle, 0.004, 10))]);
    for (id, middle) in [("20260101-0000-000a", 1.0), ("20260201-0000-000b", 2.0)] {
        let file = stand.path().join("run.gz");
        run(id, middle).write(&file);
        stand.fine(&["import", file.to_str().unwrap()]);
    }
    let csv = stand.fine(&["compare", "last~1", "last", "--format", "csv"]).out;
    let columns: BTreeSet<String> = csv.lines().next().unwrap().split(',').map(str::to_owned).collect();
    let part = text.split_once("\n### CSV\n").unwrap().1.split_once("\n### JSON\n").unwrap().0;
    let table = part.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    let described: BTreeSet<String> =
        table.flat_map(|cell| cell.trim_end_matches('`').split("`, `")).map(str::to_owned).collect();
    assert_eq!(described, columns);

    let files = ["table", "standing", "weighing"];
    let fields = files.iter().flat_map(|name| serialized(&format!("crates/stend-compare/src/{name}.rs"))).collect();
    assert_eq!(
        missing(fields, &|name| named.contains(name)),
        [""; 0],
        "fields and words of JSON that the page does not have"
    );
}
