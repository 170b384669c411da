//! The tools that suites use: where they lie, what they say of themselves, and the digest of their file.

use std::collections::BTreeMap;

use stend_model::cause::Cause;
use stend_model::identity::digest_of;
use stend_model::machine::Tool;

use super::Missing;
use super::texts::Texts;
use crate::host::{Command, Host, HostError, Output};

/// A program to look for, and what makes it print its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolQuery {
    /// Its name on the PATH, or its path.
    pub program: String,
    /// Such as `--version`, or `-v` for nginx.
    pub version_arguments: Vec<String>,
}

/// For each tool its number, the number of its version arguments, its program and those arguments. One program counts the digests of all: starting
/// it takes longer than reading most tools.
const SCRIPT: &str = r#"
LC_ALL=C
export LC_ALL
# Behind what is still to be asked stand the paths that were found.
left=$#
while [ $left -gt 0 ]; do
    number=$1 count=$2 program=$3
    shift 3
    left=$((left - 3 - count))
    path=
    case $program in
    */*) [ -f "$program" ] && [ -x "$program" ] && path=$program ;;
    *)
        # The way that a program is started, too. `command -v` would find what the shell has inside, as busybox's has gzip.
        IFS=:
        for directory in $PATH; do
            if [ -f "$directory/$program" ] && [ -x "$directory/$program" ]; then
                path=$directory/$program
                break
            fi
        done
        unset IFS
        ;;
    esac
    arguments=$count
    if [ -n "$path" ]; then
        echo "$number.path:$path"
        # The arguments to come are those of this tool first: the rest is cut off in a subshell.
        (
            for argument in "$@"; do
                if [ $count -gt 0 ]; then set -- "$@" "$argument"; count=$((count - 1)); fi
                shift
            done
            "$path" "$@" 2>&1 </dev/null
        ) | while IFS= read -r line || [ -n "$line" ]; do
            echo "$number.version:$line"
        done
    fi
    shift "$arguments"
    [ -z "$path" ] || set -- "$@" "$path"
done
if [ $# -gt 0 ] && command -v sha256sum >/dev/null 2>&1; then
    sha256sum -- "$@" 2>/dev/null | while read -r digest path; do
        echo "sha256 $path:$digest"
    done
fi
exit 0
"#;

/// Asks for all tools at once: the tools that there are, and what is missing of which, with why.
pub fn tools(host: &dyn Host, queries: &[ToolQuery]) -> Result<(BTreeMap<String, Tool>, Missing), HostError> {
    match command(queries) {
        Some(command) => {
            let (mut tools, mut missing) = read(&host.run(&command)?, queries);
            add_digests(host, &mut tools, &mut missing);
            Ok((tools, missing))
        }
        None => Ok(Default::default()),
    }
}

/// What asks for all tools at once; nothing for none.
fn command(queries: &[ToolQuery]) -> Option<Command> {
    if queries.is_empty() {
        return None;
    }
    let mut words = vec!["sh".to_owned(), "-c".into(), SCRIPT.into(), "sh".into()];
    for (number, query) in queries.iter().enumerate() {
        words.extend([number.to_string(), query.version_arguments.len().to_string(), query.program.clone()]);
        words.extend(query.version_arguments.iter().cloned());
    }
    Some(Command::new(words))
}

/// What a machine answered to such a command.
fn read(output: &Output, queries: &[ToolQuery]) -> (BTreeMap<String, Tool>, Missing) {
    from_texts(&Texts::parse(output), queries)
}

/// Where no program there counts digests, files come here to be counted.
fn add_digests(host: &dyn Host, tools: &mut BTreeMap<String, Tool>, missing: &mut Missing) {
    for (name, tool) in tools.iter_mut().filter(|(_, tool)| tool.sha256.is_none()) {
        let what = format!("tools.{name}.sha256");
        match host.read(&tool.path) {
            Ok(contents) => {
                tool.sha256 = Some(digest_of(&contents));
                missing.remove(&what);
            }
            Err(error) => {
                missing.insert(what, Cause::Unread { file: tool.path.clone(), said: error.to_string() });
            }
        }
    }
}

fn from_texts(texts: &Texts, queries: &[ToolQuery]) -> (BTreeMap<String, Tool>, Missing) {
    let mut tools = BTreeMap::new();
    let mut missing = Missing::new();
    for (number, query) in queries.iter().enumerate() {
        let name = &query.program;
        let Some(path) = texts.line(&format!("{number}.path")) else {
            missing.insert(format!("tools.{name}"), Cause::ToolMissing { tool: name.clone() });
            continue;
        };
        let version = texts.line(&format!("{number}.version")).unwrap_or("").to_owned();
        if version.is_empty() {
            let asked = format!("{name} {}", query.version_arguments.join(" "));
            missing.insert(format!("tools.{name}.version"), Cause::Silent { sources: vec![asked] });
        }
        let digest = texts.line(&format!("sha256 {path}"));
        let sha256 = digest.filter(|digest| digest.len() == 64).map(str::to_owned);
        if sha256.is_none() {
            missing.insert(format!("tools.{name}.sha256"), Cause::ToolMissing { tool: "sha256sum".into() });
        }
        tools.insert(name.clone(), Tool { version, path: path.to_owned(), sha256 });
    }
    (tools, missing)
}
