//! Why a request gave nothing usable. No text here holds an address, a header or a body.

/// A fault of one exchange.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NetError {
    /// The client could not be built.
    #[error("the HTTP client cannot be built: {0}")]
    Setup(String),
    /// The request cannot be sent as it is.
    #[error("the request cannot be sent: {0}")]
    Request(String),
    /// No connection.
    #[error("cannot connect: {0}")]
    Connect(String),
    /// The connection ended or what came is unreadable.
    #[error("broken answer: {0}")]
    Broken(String),
    /// More came than is taken.
    #[error("the answer has a {what} over {limit} bytes")]
    TooLarge {
        /// What was too long.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
}

impl From<reqwest::Error> for NetError {
    /// Keeps the innermost cause and drops the address.
    fn from(e: reqwest::Error) -> Self {
        let e = e.without_url();
        let text = innermost(&e);
        if e.is_builder() {
            NetError::Request(text)
        } else if e.is_connect() {
            NetError::Connect(text)
        } else {
            NetError::Broken(text)
        }
    }
}

fn innermost(e: &dyn std::error::Error) -> String {
    let mut at = e;
    while let Some(source) = at.source() {
        at = source;
    }
    at.to_string()
}
