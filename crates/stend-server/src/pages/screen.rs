//! The screen of a virtual machine as it is now, with its keyboard and mouse.
//!
//! The browser shows it with noVNC, which speaks VNC with the guest's own server. What that server sends goes to the browser as events, and what the
//! browser sends comes in requests of their own: so both pass what all else passes, who is signed in and the way through another node.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::path::{Path as FilePath, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use askama::Template;
use axum::Extension;
use axum::body::Bytes;
use axum::extract::{Path, Query};
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::net::unix::OwnedWriteHalf;
use tokio_stream::{Stream, StreamExt as _};
use tokio_util::io::ReaderStream;

use super::rigs::{Rig, Whose, all, of_node};
use super::{Reader, Served, page, trouble};
use crate::accounts::{Role, Who, fresh_secret};
use crate::api::{brief, while_signed_in};
use crate::journal::Kind;
use crate::problem::Problem;

/// Where packages put noVNC, which is not part of this program.
const VIEWER: &str = "/usr/share/novnc";
/// So many screens are watched at once.
const MOST: usize = 32;
/// A guest's VNC server that takes nothing for so long does not.
const PATIENCE: Duration = Duration::from_secs(30);
/// So much of a screen is sent in one event, in bytes.
const PART: usize = 32 << 10;

/// The screens that are watched: where what somebody types goes, by a number that only they are told.
#[derive(Default)]
pub(crate) struct Screens(Mutex<BTreeMap<String, Watched>>);

struct Watched {
    /// What they signed in with.
    secret: String,
    keyboard: Arc<tokio::sync::Mutex<OwnedWriteHalf>>,
}

/// One that is watched as long as this is there.
struct Watching {
    screens: Arc<Screens>,
    id: String,
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.screens.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

impl Screens {
    fn watch(self: &Arc<Self>, who: &Who, keyboard: OwnedWriteHalf) -> Option<Watching> {
        let mut watched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if watched.len() >= MOST {
            return None;
        }
        let id = fresh_secret();
        let keyboard = Arc::new(tokio::sync::Mutex::new(keyboard));
        watched.insert(id.clone(), Watched { secret: who.secret.clone(), keyboard });
        Some(Watching { screens: Arc::clone(self), id })
    }

    fn keyboard(&self, who: &Who, id: &str) -> Option<Arc<tokio::sync::Mutex<OwnedWriteHalf>>> {
        let watched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        watched.get(id).filter(|watched| watched.secret == who.secret).map(|watched| Arc::clone(&watched.keyboard))
    }
}

#[derive(Template)]
#[template(path = "screen.html")]
struct Screen {
    reader: Reader,
    name: String,
    /// What says in an address which node's rig it is.
    of_node: String,
    has_viewer: bool,
}

pub(crate) async fn screen(
    lab: Served,
    reader: Reader,
    Query(whose): Query<Whose>,
    Path(name): Path<String>,
) -> Response {
    let found = async {
        whose.check(&lab)?;
        with_screen(all(&lab).await?, &name)
    };
    if let Err(problem) = found.await {
        return trouble(reader, &problem);
    }
    let has_viewer = FilePath::new(VIEWER).join("core/rfb.js").exists();
    let of_node = of_node(whose.node.as_ref());
    page(reader.clone(), Ok(Screen { reader, name, of_node, has_viewer }))
}

/// Where the screen of this guest is.
fn with_screen(rigs: Vec<Rig>, name: &str) -> Result<PathBuf, Problem> {
    let guest = rigs.into_iter().find(|rig| rig.name == name).and_then(|rig| rig.guest);
    let screen = guest.and_then(|guest| guest.screen);
    screen.map(PathBuf::from).ok_or_else(|| Problem::not_found(format!("no rig \"{}\" has a screen", brief(name))))
}

/// What a guest's VNC server sends: first what `typed` is told, then its bytes in base64.
pub(crate) async fn events(
    lab: Served,
    who: Extension<Who>,
    Query(whose): Query<Whose>,
    Path(name): Path<String>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    whose.check(&lab)?;
    let socket = with_screen(all(&lab).await?, &name)?;
    let unavailable = |error: io::Error| Problem::new(StatusCode::SERVICE_UNAVAILABLE, format!("its screen: {error}"));
    let connected = || {
        let stream = stend_stand::socket::connected(&socket)?;
        stream.set_nonblocking(true)?;
        UnixStream::from_std(stream)
    };
    let (screen, keyboard) = connected().map_err(unavailable)?.into_split();
    let watching = lab.screens.watch(&who, keyboard);
    let watching = watching.ok_or_else(|| {
        Problem::new(StatusCode::TOO_MANY_REQUESTS, "too many screens are watched at once; come back later")
    })?;
    lab.note(Kind::ScreenOpened, who.name.clone(), name, String::new()).await?;
    let first = tokio_stream::once(Event::default().event("open").data(&watching.id));
    let parts = ReaderStream::with_capacity(screen, PART).map_while(Result::ok);
    let parts = parts.map(move |part| {
        // Ends with the stream.
        let _watching = &watching;
        Event::default().data(BASE64_STANDARD.encode(part))
    });
    Ok(while_signed_in(lab.0, who.0, first.chain(parts)))
}

/// What a viewer sends to the guest's VNC server: what is typed, how the mouse moves, which part of the screen is wanted.
pub(crate) async fn typed(
    lab: Served,
    who: Extension<Who>,
    Path((_, watched)): Path<(String, String)>,
    sent: Bytes,
) -> Result<StatusCode, Problem> {
    let keyboard = lab.screens.keyboard(&who, &watched);
    let keyboard = keyboard.ok_or_else(|| Problem::not_found("this screen is not watched any more"))?;
    let mut keyboard = keyboard.lock().await;
    let written = tokio::time::timeout(PATIENCE, keyboard.write_all(&sent)).await;
    let written = written.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    written.map_err(|error| Problem::new(StatusCode::SERVICE_UNAVAILABLE, format!("its screen: {error}")))?;
    Ok(StatusCode::NO_CONTENT)
}

/// A file of noVNC, as its package has it.
pub(crate) async fn viewer(Path(file): Path<String>) -> Response {
    let is_plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    let mut parts = file.split('/');
    let is_script = matches!(parts.next(), Some("core" | "vendor"))
        && parts.all(|part| is_plain(part) && !part.starts_with('.'))
        && file.ends_with(".js");
    let found = if is_script { tokio::fs::read(FilePath::new(VIEWER).join(&file)).await.ok() } else { None };
    match found {
        Some(text) => {
            ([(CONTENT_TYPE, "text/javascript; charset=utf-8"), (CACHE_CONTROL, "no-cache")], text).into_response()
        }
        None => Problem::not_found("noVNC has no such file here").into_response(),
    }
}

pub(crate) async fn script() -> Response {
    super::file("text/javascript; charset=utf-8", include_str!("../../static/screen.js"))
}
