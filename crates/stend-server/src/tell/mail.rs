//! Mail: one for the entries that came together within a short time.

use std::time::Duration;

use lettre::message::header::{ContentType, Header, HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, Tls, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use lettre::{SmtpTransport, Transport as _};

use crate::settings::{MailTable, MailTls, Secret};

/// A step of the conversation that takes longer ends it.
const PATIENCE: Duration = Duration::from_secs(60);

/// A subject has so many bytes.
const LONGEST_SUBJECT: usize = 150;

/// Who gets mail, and by which server.
#[derive(Debug)]
pub(crate) struct Mail {
    from: Mailbox,
    to: Vec<Mailbox>,
    /// So long is waited for what else comes.
    pub(crate) gather: Duration,
    pub(crate) password: Option<Secret>,
    transport: SmtpTransport,
}

/// Says that no person wrote it, so that nobody's absence is answered.
#[derive(Clone)]
struct AutoSubmitted;

impl Header for AutoSubmitted {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("Auto-Submitted")
    }

    fn parse(_: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Self)
    }

    fn display(&self) -> HeaderValue {
        HeaderValue::new(Self::name(), "auto-generated".to_owned())
    }
}

impl Mail {
    pub(crate) fn new(table: MailTable, lab: &str) -> Result<Self, String> {
        let (host, port) =
            super::host_and_port(&table.server).ok_or("server: it is host:port, as in \"smtp.example.org:587\"")?;
        let host = host.trim_matches(['[', ']']).to_owned();
        let mailbox = |key: &str, text: &String| {
            let is_line = !text.chars().any(char::is_control);
            text.parse::<Mailbox>()
                .ok()
                .filter(|_| is_line)
                .ok_or(format!("{key}: {:?} is no address", text.escape_debug()))
        };
        let from = mailbox("from", &table.from)?;
        let to = table.to.iter().map(|text| mailbox("to", text)).collect::<Result<Vec<_>, _>>()?;
        if to.is_empty() {
            return Err("to: name somebody".into());
        }
        let is_here = host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
        if table.tls == MailTls::None && table.password.is_some() && !is_here {
            return Err("tls: with \"none\" the password could be read on its way; use \"starttls\" or \"tls\"".into());
        }
        let tls = || -> Result<TlsParameters, String> {
            let mut parameters = TlsParameters::builder(host.clone());
            if let Some(file) = &table.authority {
                let wrong = |why: String| format!("authority: {}: {why}", file.display());
                let text = std::fs::read(file).map_err(|error| wrong(error.to_string()))?;
                let certificate = Certificate::from_pem(&text).map_err(|error| wrong(error.to_string()))?;
                parameters = parameters.add_root_certificate(certificate);
            }
            parameters.build_rustls().map_err(|error| format!("tls: {error}"))
        };
        let tls = match table.tls {
            MailTls::Starttls => Tls::Required(tls()?),
            MailTls::Tls => Tls::Wrapper(tls()?),
            MailTls::None => Tls::None,
        };
        let mut transport = SmtpTransport::builder_dangerous(host).port(port).tls(tls).timeout(Some(PATIENCE));
        // A name without a domain is refused by some; by default it is the address.
        if lab.contains('.') {
            transport = transport.hello_name(ClientId::Domain(lab.to_owned()));
        }
        match (table.user, &table.password) {
            (Some(user), Some(password)) => {
                transport = transport.credentials(Credentials::new(user, password.0.clone()))
            }
            (None, None) => {}
            _ => return Err("user and password: give both or neither".into()),
        }
        Ok(Self { from, to, gather: table.gather, password: table.password, transport: transport.build() })
    }

    /// Sends one, by an id that is the same for the same entries.
    pub(crate) fn send(&self, id: &str, subject: &str, body: String) -> Result<(), String> {
        let mut mail = Message::builder()
            .from(self.from.clone())
            .subject(super::plain(subject, LONGEST_SUBJECT))
            .message_id(Some(format!("<{id}@{}>", self.from.email.domain())))
            .header(AutoSubmitted)
            .header(ContentType::TEXT_PLAIN);
        for to in &self.to {
            mail = mail.to(to.clone());
        }
        let mail = mail.body(body).map_err(|error| error.to_string())?;
        self.transport.send(&mail).map(drop).map_err(|error| error.to_string())
    }
}
