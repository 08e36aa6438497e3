//! The body of a request: JSON, or a form with files.

use crate::refusal::Refusal;
use axum::body::{Body as HttpBody, Bytes};
use axum::extract::{FromRequest, Multipart, Request};
use axum::http::header;
use serde_json::Value;

/// Largest body of all: ten of the largest files.
pub(crate) const BODY_MAX: usize = 256 << 20;

/// A file as it came.
#[derive(Debug, Clone)]
pub(crate) struct File {
    /// `n` of the part `files[n]`.
    pub(crate) number: Option<u64>,
    pub(crate) name: String,
    pub(crate) mime: String,
    pub(crate) bytes: Bytes,
}

/// What a request carries.
#[derive(Debug, Clone, Default)]
pub(crate) struct Body {
    pub(crate) json: Value,
    pub(crate) files: Vec<File>,
}

fn no_json() -> Refusal {
    Refusal::new(400, 50109, "The request body contains invalid JSON.")
}

/// Reads a body whole.
pub(crate) async fn read(request: Request<HttpBody>) -> Result<Body, Refusal> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    if kind.starts_with("multipart/form-data") {
        return form(request).await;
    }
    let is_json = kind.starts_with("application/json");
    let bytes = axum::body::to_bytes(request.into_body(), BODY_MAX).await.map_err(|_| too_large())?;
    if bytes.is_empty() {
        return Ok(Body::default());
    }
    if !is_json {
        let message = "Expected \"Content-Type\" header to be one of {'application/json', 'multipart/form-data'}.";
        return Err(Refusal::field("_misc", "CONTENT_TYPE_INVALID", message));
    }
    let json = serde_json::from_slice(&bytes).map_err(|_| no_json())?;
    Ok(Body { json, files: Vec::new() })
}

fn too_large() -> Refusal {
    Refusal::new(413, 40005, "Request entity too large")
}

async fn form(request: Request<HttpBody>) -> Result<Body, Refusal> {
    let broken = |_| Refusal::new(400, 50035, "Invalid Form Body");
    let mut parts = Multipart::from_request(request, &()).await.map_err(|_| no_json())?;
    let mut body = Body::default();
    while let Some(part) = parts.next_field().await.map_err(broken)? {
        let field = part.name().unwrap_or_default().to_owned();
        let name = part.file_name().map(str::to_owned);
        let mime = part.content_type().map(str::to_owned);
        let bytes = part.bytes().await.map_err(|_| too_large())?;
        match name {
            _ if field == "payload_json" => body.json = serde_json::from_slice(&bytes).map_err(|_| no_json())?,
            Some(name) => {
                let number = field.strip_prefix("files[").and_then(|rest| rest.strip_suffix(']'));
                let number = number.and_then(|n| n.parse().ok());
                let mime = mime.unwrap_or_else(|| "application/octet-stream".into());
                body.files.push(File { number, name, mime, bytes });
            }
            // the old form: each field of the message as a part of its own
            None => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                if body.json.is_null() {
                    body.json = Value::Object(Default::default());
                }
                body.json[field] = Value::String(text);
            }
        }
    }
    Ok(body)
}
