//! The client itself: built once, passed in, never a redirect.

use super::NetError;
use crate::task::SharedClock;
use std::fmt;
use std::time::Duration;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const SHORTEST_SECRET: usize = 4;

/// The one HTTP client of the process, with the clock its deadlines are taken from. Cheap to clone.
#[derive(Clone)]
pub struct Http {
    client: reqwest::Client,
    clock: SharedClock,
}

impl Http {
    /// Builds it. Redirects are answers like any other: an address is trusted for itself, never for where it
    /// points. Proxy variables of the environment are not read.
    pub fn new(clock: SharedClock) -> Result<Self, NetError> {
        // A second installation is refused because the first one already holds; both are ring.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = match builder().build() {
            Ok(client) => client,
            // A machine without system certificates has none to verify with: use the bundled ones.
            Err(_) => builder().tls_backend_preconfigured(bundled_roots()).build().map_err(setup)?,
        };
        Ok(Self { client, clock })
    }

    /// The client, for building requests.
    pub fn client(&self) -> &reqwest::Client {
        &self.client
    }

    /// The clock deadlines are taken from.
    pub fn clock(&self) -> &SharedClock {
        &self.clock
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Http")
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place that builds a client")]
fn builder() -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .tls_backend_rustls()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT)
        .no_proxy()
        .user_agent(concat!("understudy/", env!("CARGO_PKG_VERSION")))
}

fn bundled_roots() -> rustls::ClientConfig {
    let roots: rustls::RootCertStore = webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect();
    rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth()
}

fn setup(e: reqwest::Error) -> NetError {
    NetError::Setup(e.without_url().to_string())
}

/// A foreign text made fit for a log line or a reason: secrets replaced, addresses without their query, control
/// characters and line breaks as spaces, at most `limit` characters.
pub fn scrub(text: &str, secrets: &[&str], limit: usize) -> String {
    let mut text = text.to_owned();
    for secret in secrets.iter().filter(|s| s.len() >= SHORTEST_SECRET) {
        text = text.replace(secret, "[redacted]");
    }
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect();
    let words: Vec<&str> = words.into_iter().map(without_query).collect();
    let joined = words.join(" ");
    if joined.chars().count() <= limit {
        return joined;
    }
    joined.chars().take(limit.saturating_sub(1)).chain(['…']).collect()
}

fn without_query(word: &str) -> &str {
    match (word.find("://"), word.find(['?', '#'])) {
        (Some(scheme), Some(query)) if query > scheme => word.get(..query).unwrap_or(word),
        _ => word,
    }
}
