//! How many connections there are at once, and how long a request may take to arrive.

use std::collections::HashMap;
use std::future::Ready;
use std::io::{Error, ErrorKind};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use axum_server::Server;
use axum_server::accept::Accept;
use rustix::process::{Resource, getrlimit};
use tokio::net::TcpStream;
use tower_service::Service;

use crate::guard::network;
use crate::problem::Problem;
use crate::{IMPORTS, OF_AGENTS};

/// A connection that asks for nothing within this time is closed.
const PATIENCE: Duration = Duration::from_secs(30);

/// No body is longer, but a file's.
const LONGEST_BODY: usize = 64 * 1024;

/// The form that starts a run has two texts as long as that, of which each byte may be written as three.
const LONGEST_FORM: usize = 7 * LONGEST_BODY;

/// So many connections there are at once, and no more than half of the files that may be open; and so many of one address. Viewers who come through one forwarded port all have this machine's.
const MOST: usize = 1000;
const MOST_OF_ONE: usize = 200;

/// What listens there, and closes connections whose requests do not arrive.
pub(crate) fn server(listener: TcpListener) -> std::io::Result<Server<SocketAddr>> {
    let mut server = axum_server::from_tcp(listener)?.http1_only();
    server.http_builder().http1().header_read_timeout(PATIENCE);
    Ok(server.first_request_timeout(PATIENCE))
}

/// Reads a body as a whole before anything is done with it, unless it takes too long to come.
pub(crate) async fn body_in_time(request: Request, next: Next) -> Response {
    let path = request.uri().path();
    // What is longer is read when it is known who sends it.
    if path == IMPORTS || path.starts_with(OF_AGENTS) {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let longest = if parts.uri.path() == "/" { LONGEST_FORM } else { LONGEST_BODY };
    match whole(body, longest).await {
        Ok(body) => next.run(Request::from_parts(parts, Body::from(body))).await,
        Err(problem) => problem.into_response(),
    }
}

/// A body as a whole, unless it is longer or takes too long to come.
pub(crate) async fn whole(body: Body, longest: usize) -> Result<Bytes, Problem> {
    let read = tokio::time::timeout(PATIENCE, to_bytes(body, longest)).await;
    let late = |_| Problem::new(StatusCode::REQUEST_TIMEOUT, "the rest of the request did not come");
    let said = || format!("a body has {} KiB at most", longest >> 10);
    read.map_err(late)?.map_err(|_| Problem::new(StatusCode::PAYLOAD_TOO_LARGE, said()))
}

/// Takes so many connections and no more.
#[derive(Debug, Clone)]
pub(crate) struct Bounded {
    open: Arc<Mutex<HashMap<IpAddr, usize>>>,
    most: usize,
}

impl Bounded {
    pub(crate) fn new() -> Self {
        // The limit is not raised: runs would inherit it, and what they measure.
        let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let most = usize::try_from(files / 2).unwrap_or(MOST).min(MOST);
        Self { open: Arc::default(), most }
    }

    fn count(&self, from: IpAddr) -> Option<Counted> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let of_it = open.get(&from).copied().unwrap_or(0);
        let most_of_one = if from.is_loopback() { self.most } else { MOST_OF_ONE.min(self.most) };
        if open.values().sum::<usize>() >= self.most || of_it >= most_of_one {
            return None;
        }
        open.insert(from, of_it + 1);
        Some(Counted { from, open: Arc::clone(&self.open) })
    }
}

/// A connection that is counted as long as this is there.
#[derive(Debug)]
struct Counted {
    from: IpAddr,
    open: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.from) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.from);
            }
        }
    }
}

impl<S> Accept<TcpStream, S> for Bounded {
    type Stream = TcpStream;
    type Service = Held<S>;
    type Future = Ready<std::io::Result<(TcpStream, Held<S>)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        let accepted = stream.peer_addr().and_then(|from| {
            let counted = self.count(network(from.ip()));
            let counted = counted.ok_or_else(|| Error::new(ErrorKind::ConnectionRefused, "too many connections"))?;
            stream.set_nodelay(true)?;
            Ok((stream, Held { service, _counted: Arc::new(counted) }))
        });
        std::future::ready(accepted)
    }
}

/// What serves a connection, with its place among all.
#[derive(Debug, Clone)]
pub(crate) struct Held<S> {
    service: S,
    _counted: Arc<Counted>,
}

impl<S: Service<R>, R> Service<R> for Held<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, request: R) -> S::Future {
        self.service.call(request)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use axum::Router;
    use axum::middleware::from_fn;
    use axum::routing::any;

    use super::*;
    use crate::testing::with_a_given_clock;

    #[test]
    fn a_connection_on_which_no_request_arrives_is_closed() {
        for sent in ["", "GET / HTTP/1.1\r\nHost: localhost\r\n"] {
            with_a_given_clock(async {
                let listener = TcpListener::bind("127.0.0.1:0").unwrap();
                let address = listener.local_addr().unwrap();
                tokio::spawn(server(listener).unwrap().serve(Router::<()>::new().into_make_service()));
                let asked = std::thread::spawn(move || {
                    let mut connection = std::net::TcpStream::connect(address).unwrap();
                    // It may be closed before this arrives.
                    let _ = connection.write_all(sent.as_bytes());
                    let _ = connection.read_to_end(&mut Vec::new());
                });
                while !asked.is_finished() {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
            });
        }
    }

    #[test]
    fn a_body_that_does_not_come_and_one_that_does_not_end_are_refused() {
        with_a_given_clock(async {
            let pages = Router::<()>::new().route("/", any(async || "done")).route("/other", any(async || "done"));
            let mut pages = pages.layer(from_fn(body_in_time));
            let mut status = async |path: &str, body| {
                pages.call(Request::builder().uri(path).body(body).unwrap()).await.unwrap().status()
            };
            for (path, longest) in [("/other", LONGEST_BODY), ("/", LONGEST_FORM)] {
                assert_eq!(status(path, Body::from(vec![0; longest])).await, StatusCode::OK);
                assert_eq!(status(path, Body::from(vec![0; longest + 1])).await, StatusCode::PAYLOAD_TOO_LARGE);
            }
            let before = tokio::time::Instant::now();
            let part = tokio_stream::once(Ok::<_, Error>("a"));
            let stalled = Body::from_stream(tokio_stream::StreamExt::chain(part, tokio_stream::pending()));
            assert_eq!(status("/", stalled).await, StatusCode::REQUEST_TIMEOUT);
            assert!(before.elapsed() >= PATIENCE);
        });
    }

    #[test]
    fn one_address_does_not_take_all_connections_and_those_that_end_are_free_again() {
        let bounded = Bounded { open: Arc::default(), most: 300 };
        let (one, other): (IpAddr, IpAddr) = ([192, 0, 2, 1].into(), [192, 0, 2, 2].into());
        let mut of_one: Vec<_> = std::iter::from_fn(|| bounded.count(one)).collect();
        assert_eq!(of_one.len(), MOST_OF_ONE);
        let of_other: Vec<_> = std::iter::from_fn(|| bounded.count(other)).collect();
        assert_eq!(of_other.len(), 300 - MOST_OF_ONE);
        assert!(bounded.count([127, 0, 0, 1].into()).is_none(), "all are taken");
        of_one.pop();
        assert!(bounded.count(one).is_some());
        drop((of_one, of_other));
        assert!(bounded.open.lock().unwrap().is_empty());
    }
}
