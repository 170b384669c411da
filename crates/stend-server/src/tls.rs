//! TLS, and the names that the server goes by.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use sha2::{Digest as _, Sha256};

use crate::error::ServerError;
use crate::invitation::write_private;

/// A certificate that was made here is made anew after so long; it is valid for longer.
const RENEWED_AFTER: Duration = Duration::from_secs(300 * 24 * 3600);

/// Where certificate and key are.
#[derive(Debug, Clone)]
pub struct Certificate {
    /// The certificate, with those up to the authority's, PEM.
    pub certificate: PathBuf,
    /// Its private key, PEM.
    pub key: PathBuf,
}

/// What is served with.
#[derive(Debug)]
pub(crate) struct Tls {
    pub(crate) config: Arc<ServerConfig>,
    first: CertificateDer<'static>,
}

impl Tls {
    /// Reads certificate and key.
    pub(crate) fn read(files: &Certificate) -> Result<Self, ServerError> {
        let unusable = |file: &Path, why: String| ServerError::Refused(format!("{}: {why}", file.display()));
        let chain = CertificateDer::pem_file_iter(&files.certificate)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| unusable(&files.certificate, format!("no certificates in PEM can be read: {error}")))?;
        let Some(first) = chain.first().cloned() else {
            return Err(unusable(&files.certificate, "there is no certificate in it".into()));
        };
        let key = PrivateKeyDer::from_pem_file(&files.key)
            .map_err(|error| unusable(&files.key, format!("no private key in PEM can be read: {error}")))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key));
        let mut config = config.map_err(|error| {
            unusable(&files.key, format!("it does not fit {}: {error}", files.certificate.display()))
        })?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { config: Arc::new(config), first })
    }

    /// The certificate's SHA-256, as browsers show it.
    pub(crate) fn fingerprint(&self) -> String {
        let digest = Sha256::digest(&self.first);
        digest.iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(":")
    }
}

/// The certificate that this server makes for itself, in the store's directory: of this machine's name and the address that is listened on.
pub(crate) fn own(store: &Path, listen: IpAddr) -> Result<Certificate, ServerError> {
    let directory = store.join("server-tls");
    crate::work::private_directory(&directory).map_err(ServerError::system("the certificate's directory"))?;
    let files = Certificate { certificate: directory.join("certificate.pem"), key: directory.join("key.pem") };
    let names = own_names(listen);
    let made = || std::fs::metadata(&files.certificate)?.modified();
    let is_new = made().is_ok_and(|made| SystemTime::now().duration_since(made).is_ok_and(|age| age < RENEWED_AFTER));
    let fits = |name: &String| Tls::read(&files).is_ok_and(|tls| is_for(&tls.first, name));
    if is_new && names.iter().all(fits) {
        return Ok(files);
    }
    let refused = |error: rcgen::Error| ServerError::Refused(format!("a certificate cannot be made: {error}"));
    let key = rcgen::KeyPair::generate().map_err(refused)?;
    let mut wanted = rcgen::CertificateParams::new(names).map_err(refused)?;
    wanted.distinguished_name = rcgen::DistinguishedName::new();
    wanted.distinguished_name.push(rcgen::DnType::CommonName, "stend serve");
    let today = jiff::Zoned::now().date();
    let date = |date: jiff::civil::Date| {
        rcgen::date_time_ymd(date.year().into(), date.month().unsigned_abs(), date.day().unsigned_abs())
    };
    wanted.not_before = date(today.saturating_sub(jiff::Span::new().days(1)));
    wanted.not_after = date(today.saturating_add(jiff::Span::new().days(397)));
    let certificate = wanted.self_signed(&key).map_err(refused)?;
    // The key first: a certificate that is new has its key.
    write_private(&files.key, &key.serialize_pem()).map_err(ServerError::system("the certificate's key"))?;
    write_private(&files.certificate, &certificate.pem()).map_err(ServerError::system("the certificate"))?;
    Ok(files)
}

fn this_host() -> Option<String> {
    let uname = rustix::system::uname();
    uname.nodename().to_str().ok().filter(|name| ServerName::try_from(*name).is_ok()).map(str::to_owned)
}

fn own_names(listen: IpAddr) -> Vec<String> {
    let mut names: Vec<String> = this_host().into_iter().collect();
    names.extend(["localhost".into(), "127.0.0.1".into(), "::1".into()]);
    if !listen.is_unspecified() && !listen.is_loopback() {
        names.push(listen.to_string());
    }
    names
}

fn is_for(certificate: &CertificateDer, name: &str) -> bool {
    let Ok(name) = ServerName::try_from(name) else { return false };
    webpki::EndEntityCert::try_from(certificate)
        .is_ok_and(|certificate| certificate.verify_is_valid_for_subject_name(&name).is_ok())
}

/// What the server may be called by those who ask it.
#[derive(Debug)]
pub(crate) struct Names {
    address: SocketAddr,
    certificate: Option<CertificateDer<'static>>,
}

impl Names {
    pub(crate) fn new(address: SocketAddr, tls: Option<&Tls>) -> Self {
        Self { address, certificate: tls.map(|tls| tls.first.clone()) }
    }

    pub(crate) fn scheme(&self) -> &'static str {
        if self.certificate.is_some() { "https://" } else { "http://" }
    }

    /// Where a browser finds it: an address that stands for all of a machine's is no address to open.
    pub(crate) fn to_open(&self) -> String {
        if self.address.ip().is_unspecified() {
            return format!("{}:{}", this_host().unwrap_or_else(|| "localhost".into()), self.address.port());
        }
        self.address.to_string()
    }

    /// Whether a request's `Host` is this server. An address cannot be given to another server as a name can; the port may be one that is forwarded.
    pub(crate) fn has(&self, host: &str) -> bool {
        let Ok(host) = host.parse::<axum::http::uri::Authority>() else { return false };
        let name = host.host().trim_start_matches('[').trim_end_matches(']');
        name.parse::<IpAddr>().is_ok()
            || name.eq_ignore_ascii_case("localhost")
            || self.certificate.as_ref().is_some_and(|certificate| is_for(certificate, name))
    }
}

impl fmt::Display for Names {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}", self.address)?;
        formatter.write_str(if self.certificate.is_some() {
            " and the names in its certificate"
        } else {
            " and localhost"
        })
    }
}
