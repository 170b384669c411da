//! Runs as far as they are made, where another node reaches the machine too: it goes on from there if this one is lost.
//!
//! A part is some repeats of a run, as `stend export` writes a run. It is added under the claim to the job, so it is one of a run that this node has, and
//! of each repeat there is one.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use stend_fleet::{Change, Claim, Condition, Entry, MOST_CHANGES, News, Revision};
use stend_model::record::Record;
use stend_model::run::{RunState, Series};
use stend_store::{Store, read_export, write_export};

use crate::accounts::fresh_secret;
use crate::database::numbered;
use crate::error::ServerError;
use crate::fleet::{NodeEntry, claims};
use crate::jobs::Job;
use crate::lab::Lab;

/// How often is looked whether a run is still measured, and how soon what failed is tried again.
const LOOK: Duration = Duration::from_secs(1);
const RETRIED: Duration = Duration::from_secs(2);

/// A longer text is added in pieces: etcd takes 1.5 MiB in one request.
const PIECE: usize = 512 * 1024;

/// Where the parts of a job are.
fn place(job: &Job) -> String {
    format!("repeat/{}/", job.id)
}

/// Where the owner of a job says that it begins.
pub(crate) fn began(job: &Job) -> String {
    format!("began/{}", job.id)
}

/// Whether another node may have to go on with a job.
pub(crate) fn are_of_use(lab: &Lab, job: &Job) -> bool {
    // Of an agent nobody sees more than these.
    if lab.through.is_some() {
        return true;
    }
    let known = lab.known();
    let reaches = |node: &NodeEntry| node.machines.iter().any(|machine| machine == job.machine());
    known.nodes.iter().any(|(name, node)| name != lab.here() && reaches(node))
}

/// Adds the repeats that are new behind this one, and gives the last; the same if there are none.
pub(crate) fn add(lab: &Lab, job: &Job, claim: &Claim, after: Option<u32>) -> Result<Option<u32>, ServerError> {
    let store = Store::open_to_read(&lab.store)?;
    let Some(first) = next(&store, &job.run, after)? else { return Ok(after) };
    let mut record = store.load_whole(&job.run)?;
    record.repeats.retain(|repeat| repeat.sequence >= first);
    record.own_reports.retain(|(sequence, _)| *sequence >= first);
    record.profiles.clear();
    let last = record.repeats.last().map(|repeat| repeat.sequence);
    let mut series = store.series_from(&job.run, first)?;
    series.retain(|(sequence, _)| Some(*sequence) <= last);
    let mut file = Vec::new();
    write_export(&record, &series, &mut file).map_err(ServerError::system("a part"))?;
    let text = STANDARD.encode(file);
    let key = format!("{}{}", place(job), numbered(first.into()));
    let put = |key: String, text: &str| {
        lab.database.change(|edit| {
            edit.hold(claims, &job.id.to_string(), claim)?;
            edit.require(Condition::Absent(key.clone()));
            edit.beside(Change::Put(key.clone(), text.to_owned()));
            Ok(())
        })
    };
    let mut pieces: Vec<&str> = Vec::new();
    let mut rest = text.as_str();
    while rest.len() > PIECE {
        let (piece, more) = rest.split_at(PIECE);
        pieces.push(piece);
        rest = more;
    }
    // Those of a try that was broken off have another word.
    let word = fresh_secret();
    for (number, piece) in pieces.iter().enumerate() {
        put(format!("piece/{}/{word}/{number:06}", job.id), piece)?;
    }
    // The last piece stands where the part is: with it the part is there.
    put(key, &format!("{} {} {word} {rest}", last.unwrap_or_default(), pieces.len()))?;
    Ok(last)
}

/// The last repeat that is in any part of a job.
pub(crate) fn last(lab: &Lab, job: &Job) -> Result<Option<u32>, ServerError> {
    let parts = lab.database.0.agreement().list(&place(job))?.entries;
    Ok(parts.iter().filter_map(|part| part.value.split(' ').next()?.parse().ok()).max())
}

/// The first repeat behind this one.
fn next(store: &Store, run: &str, after: Option<u32>) -> Result<Option<u32>, ServerError> {
    if !store.has_run(run)? {
        return Ok(None);
    }
    Ok(store.repeats_after(run, after)?.first().map(|repeat| repeat.sequence))
}

/// Repeats of a run, with their series.
type Part = (Record, Vec<(u32, Series)>);

/// Adds a part of a job to those before it.
fn join(lab: &Lab, job: &Job, entry: &Entry, whole: Option<Part>) -> Result<Part, ServerError> {
    let agreement = lab.database.0.agreement();
    let strange = || ServerError::Refused(format!("{} is no part of a run", entry.key));
    let [_, count, word, rest] = entry.value.splitn(4, ' ').collect::<Vec<_>>()[..] else { return Err(strange()) };
    let pieces = if count == "0" { Vec::new() } else { agreement.list(&format!("piece/{}/{word}/", job.id))?.entries };
    if pieces.len().to_string() != count {
        return Err(strange());
    }
    let text: String = pieces.iter().map(|piece| piece.value.as_str()).chain([rest]).collect();
    let file = STANDARD.decode(text).map_err(|_| strange())?;
    let (mut record, series) = read_export(&*file, &entry.key)?;
    if record.run.id != job.run {
        return Err(strange());
    }
    (record.run.state, record.run.finished_at) = (RunState::Open, None);
    let Some((mut before, mut all)) = whole else { return Ok((record, series)) };
    // What a later part says of the run is how it is.
    before.repeats.extend(record.repeats);
    before.own_reports.extend(record.own_reports);
    (before.run, before.sessions) = (record.run, record.sessions);
    all.extend(series);
    Ok((before, all))
}

/// The parts of a job as one run, if there are any, and at which revision.
fn joined(lab: &Lab, job: &Job) -> Result<(Option<Part>, Revision), ServerError> {
    let listing = lab.database.0.agreement().list(&place(job))?;
    let mut whole = None;
    for entry in &listing.entries {
        whole = Some(join(lab, job, entry, whole)?);
    }
    Ok((whole, listing.revision))
}

/// Has the store of this node follow a run that an agent measures: what there is of it at once, and the rest as it comes.
pub(crate) async fn follow(lab: &Arc<Lab>, job: Job) {
    let is_new = lab.followed().insert(job.run.clone());
    if !is_new {
        return;
    }
    let (begun, has_begun) = tokio::sync::oneshot::channel();
    let lab = Arc::clone(lab);
    std::thread::spawn(move || {
        let mut begun = Some(begun);
        // What fails now may be there later.
        while follow_once(&lab, &job, &mut begun).is_err() && is_measured_elsewhere(&lab, &job) {
            std::thread::sleep(RETRIED);
        }
        lab.followed().remove(&job.run);
    });
    // It ends if nobody answers.
    let _ = has_begun.await;
}

fn is_measured_elsewhere(lab: &Lab, job: &Job) -> bool {
    let known = lab.known();
    known.job(job.id).is_some_and(|job| job.state.is_open() && known.is_of_agent(job))
}

/// The same, as long as the run is measured and somebody answers. That what there is has been taken is told once.
fn follow_once(lab: &Lab, job: &Job, begun: &mut Option<tokio::sync::oneshot::Sender<()>>) -> Result<(), ServerError> {
    // Whatever comes of it, nobody is kept waiting.
    let begun = begun.take();
    let (mut whole, revision) = joined(lab, job)?;
    take(lab, whole.as_ref())?;
    drop(begun);
    let mut watch = lab.database.0.agreement().watch(&place(job), revision)?;
    while is_measured_elsewhere(lab, job) {
        for news in watch.next(LOOK)?.news {
            if let News::Put(entry) = news {
                whole = Some(join(lab, job, &entry, whole)?);
                take(lab, whole.as_ref())?;
            }
        }
    }
    Ok(())
}

/// Takes a run as far as it is into this node's store. When it is finished, the archive's takes its place.
fn take(lab: &Lab, whole: Option<&Part>) -> Result<(), ServerError> {
    let Some((record, series)) = whole else { return Ok(()) };
    let mut record = record.clone();
    record.run.carried = true;
    Store::open(&lab.store)?.import_carried(&record, series)?;
    Ok(())
}

/// Makes this node's store have a run as all know it, before the node goes on with it. If it has that and more, it measured that itself, and nobody else
/// something in its place.
pub(crate) fn bring(lab: &Lab, job: &Job) -> Result<(), ServerError> {
    let (Some((mut record, series)), _) = joined(lab, job)? else { return Ok(()) };
    // A run of this fleet, by an order that was given to it.
    record.run.imported = Some(false);
    let mut store = Store::open(&lab.store)?;
    if store.has_run(&job.run)? {
        let own = store.load(&job.run)?;
        if !own.run.carried && own.repeats.starts_with(&record.repeats) {
            return Ok(());
        }
        store.remove(std::slice::from_ref(&job.run))?;
    }
    store.import(&record, &series)?;
    Ok(())
}

/// Forgets the parts of a job that is finished.
pub(crate) fn forget(lab: &Lab, job: &Job) -> Result<(), ServerError> {
    let agreement = lab.database.0.agreement();
    let mut all: Vec<Entry> = agreement.get(&began(job))?.into_iter().collect();
    for place in [place(job), format!("piece/{}/", job.id)] {
        all.extend(agreement.list(&place)?.entries);
    }
    for entries in all.chunks(MOST_CHANGES - 1) {
        let conditions: Vec<_> =
            entries.iter().map(|entry| Condition::Unchanged(entry.key.clone(), entry.revision)).collect();
        let changes: Vec<_> = entries.iter().map(|entry| Change::Remove(entry.key.clone())).collect();
        agreement.commit(&conditions, &changes)?;
    }
    Ok(())
}
