//! Files that were sent by people and bots.

use bytes::Bytes;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};

/// A link to a file is good for an hour.
const PATH_MS: i64 = 3600 * 1000;

/// A file.
#[derive(Debug, Clone)]
pub(crate) struct File {
    pub(crate) id: String,
    pub(crate) name: Option<String>,
    pub(crate) mime: Option<String>,
    pub(crate) content: Content,
}

/// What is in a file.
#[derive(Debug, Clone)]
pub(crate) enum Content {
    Bytes(Bytes),
    /// So many bytes, made only when somebody fetches them.
    Filler {
        start: &'static [u8],
        size: usize,
    },
}

impl Content {
    pub(crate) fn size(&self) -> usize {
        match self {
            Content::Bytes(bytes) => bytes.len(),
            Content::Filler { size, .. } => *size,
        }
    }

    pub(crate) fn bytes(&self) -> Bytes {
        match self {
            Content::Bytes(bytes) => bytes.clone(),
            Content::Filler { start, size } => {
                let mut out = start.to_vec();
                out.resize(*size, b'.');
                out.into()
            }
        }
    }
}

/// All files.
#[derive(Debug, Default)]
pub(crate) struct Files {
    by_id: BTreeMap<String, File>,
    paths: HashMap<String, (String, i64)>,
}

impl Files {
    /// Adds a file.
    pub(crate) fn add(&mut self, name: Option<String>, mime: Option<String>, content: Content) -> File {
        let id = format!("BQACAgIAAxkBfake{:06}", self.by_id.len() + 1);
        let file = File { id: id.clone(), name, mime, content };
        self.by_id.insert(id, file.clone());
        file
    }

    pub(crate) fn get(&self, id: &str) -> Option<&File> {
        self.by_id.get(id)
    }

    /// A path to fetch a file from.
    pub(crate) fn path(&mut self, id: &str, now_ms: i64) -> Option<String> {
        let file = self.by_id.get(id)?;
        let ending = file.name.as_deref().and_then(|n| n.rsplit_once('.')).map_or("bin", |(_, ending)| ending);
        let ending: String = ending.chars().filter(char::is_ascii_alphanumeric).take(8).collect();
        let path = format!("documents/file_{}.{ending}", self.paths.len());
        self.paths.insert(path.clone(), (id.to_owned(), now_ms + PATH_MS));
        Some(path)
    }

    /// The file of a path that is still good.
    pub(crate) fn fetch(&self, path: &str, now_ms: i64) -> Option<&File> {
        let (id, until) = self.paths.get(path)?;
        self.by_id.get(id).filter(|_| now_ms < *until)
    }
}

impl File {
    /// A name for the content that does not change when it is sent again.
    pub(crate) fn unique(&self) -> String {
        let digest = match &self.content {
            Content::Bytes(bytes) => Sha256::digest(bytes),
            Content::Filler { .. } => Sha256::digest(&self.id),
        };
        digest.iter().take(8).map(|b| format!("{b:02x}")).collect()
    }

    /// A `File`, without its path.
    pub(crate) fn json(&self) -> Value {
        json!({"file_id": self.id, "file_unique_id": self.unique(), "file_size": self.content.size()})
    }

    /// The field of a message for a kind of media.
    pub(crate) fn media(&self, kind: &str) -> Value {
        let mut out = self.json();
        let mut put = |name: &str, value: Value| out[name] = value;
        match kind {
            "photo" => {
                let small = json!({"width": 90, "height": 67});
                let mut first = self.json();
                first["file_id"] = format!("{}s", self.id).into();
                first["file_size"] = json!(self.content.size().min(1_500));
                let mut last = self.json();
                for (size, of) in [(&mut first, &small), (&mut last, &json!({"width": 1280, "height": 960}))] {
                    size["width"] = of["width"].clone();
                    size["height"] = of["height"].clone();
                }
                return json!([first, last]);
            }
            "video" | "animation" => {
                put("width", 640.into());
                put("height", 360.into());
            }
            "video_note" => put("length", 240.into()),
            "sticker" => {
                put("type", "regular".into());
                put("width", 512.into());
                put("height", 512.into());
                put("is_animated", false.into());
                put("is_video", false.into());
                return out;
            }
            _ => {}
        }
        if kind != "document" {
            put("duration", 3.into());
        }
        if let Some(name) = self.name.clone().filter(|_| matches!(kind, "document" | "audio" | "video" | "animation")) {
            put("file_name", name.into());
        }
        if let Some(mime) = self.mime.clone().filter(|_| kind != "video_note") {
            put("mime_type", mime.into());
        }
        out
    }
}
