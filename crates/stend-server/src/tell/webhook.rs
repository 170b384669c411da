//! Webhooks: an entry is posted as JSON, signed so that the receiver knows who sent it and when.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use serde::Serialize;
use sha2::Sha256;
use ureq::Agent;
use ureq::http::Uri;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use crate::journal::Entry;
use crate::settings::{Secret, WebhookTable};

/// An answer that takes longer is none.
const PATIENCE: Duration = Duration::from_secs(30);

/// Where entries are posted.
#[derive(Debug)]
pub(crate) struct Webhook {
    pub(crate) url: Secret,
    pub(crate) secret: Option<Secret>,
    host: String,
    agent: Agent,
}

/// What is posted.
#[derive(Serialize)]
struct Posted<'a> {
    lab: &'a str,
    /// The entry as a sentence.
    text: &'a str,
    entry: &'a Entry,
}

impl Webhook {
    pub(crate) fn new(table: &WebhookTable) -> Result<Self, String> {
        let wrong = || "url: it begins with https:// or http:// and a host".to_owned();
        let uri: Uri = table.url.0.parse().map_err(|_| wrong())?;
        let is_known = matches!(uri.scheme_str(), Some("http" | "https"));
        let host = uri.host().filter(|host| is_known && !host.is_empty()).ok_or_else(wrong)?.to_owned();
        let is_here = host == "localhost"
            || host.trim_matches(['[', ']']).parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
        let mut config = Agent::config_builder()
            .timeout_global(Some(PATIENCE))
            // Where else an answer points, nobody has named.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .max_idle_connections(0)
            .user_agent(concat!("stend/", env!("CARGO_PKG_VERSION")));
        if is_here {
            config = config.proxy(None);
        }
        if uri.scheme_str() == Some("https") {
            let roots = authorities(table.authority.as_deref())?;
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let tls = TlsConfig::builder().root_certs(roots).unversioned_rustls_crypto_provider(provider).build();
            config = config.tls_config(tls);
        }
        let agent = config.build().new_agent();
        Ok(Self { url: table.url.clone(), secret: table.secret.clone(), host, agent })
    }

    /// What of the address is no secret.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn send(&self, lab: &str, text: &str, entry: &Entry) -> Result<(), String> {
        let body = serde_json::to_string(&Posted { lab, text, entry }).expect("it can be written");
        let mut request = self
            .agent
            .post(&self.url.0)
            .header("content-type", "application/json")
            .header("stend-id", format!("{lab}-{}", entry.id));
        if let Some(secret) = &self.secret {
            request = request.header("stend-signature", signature(&secret.0, crate::guard::now(), &body));
        }
        let answer = request.send(&body).map_err(|error| error.to_string())?;
        // What it says besides is not read, however long it is.
        let status = answer.status();
        if status.is_success() { Ok(()) } else { Err(format!("it answered {}", status.as_u16())) }
    }
}

fn signature(secret: &str, time: i64, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("a key may be of any length");
    mac.update(format!("{time}.{body}").as_bytes());
    let hex: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("t={time},v1={hex}")
}

/// Whose certificates are trusted: those in the file, else those that this machine trusts.
fn authorities(file: Option<&Path>) -> Result<RootCerts, String> {
    let found: Vec<CertificateDer<'static>> = match file {
        None => rustls_native_certs::load_native_certs().certs,
        Some(file) => CertificateDer::pem_file_iter(file)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| format!("authority: {}: {error}", file.display()))?,
    };
    let certificates = found.iter().map(|certificate| Certificate::from_der(certificate).to_owned());
    Ok(RootCerts::Specific(Arc::new(certificates.collect())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The figures are those of `openssl dgst -sha256 -hmac`.
    #[test]
    fn a_signature_is_the_hmac_of_time_and_body() {
        let said = signature("key", 1_800_000_000, "{}");
        assert_eq!(said, SIGNED);
    }

    const SIGNED: &str = "t=1800000000,v1=7321475872b03ff21bdc2dfd86ea2d99ec29c479fbe4a77aa6acf4509505493f";
}
