//! The artifacts of one session.

use super::files;
use super::preview::{Limits, with_notice};
use super::room::ArtifactRoom;
use crate::exec::error::ArtifactError;
use crate::index::sha256_hex;
use crate::store::{Key, Op, SharedStore, Tree};
use crate::task::{SharedClock, blocking};
use plugin_sdk::{ContentBlock, PreviewMode, ToolArtifact, ToolResult};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How file tools and models see the folder.
const SHOWN_FOLDER: &str = ".artifacts";
/// The default of `limits.artifacts_max_mb`.
const MAX_FILE_BYTES: u64 = 1024 * 1024 * 1024;

/// Where the records of saved files go.
#[derive(Clone)]
pub struct ArtifactIndex {
    /// Tree `artifacts`.
    pub store: SharedStore,
    /// Time of the record.
    pub clock: SharedClock,
    /// Folder name of the session, `s-<16 hex>`.
    pub session: String,
    /// Turn; its files outlive every clean-up until it has ended.
    pub turn_id: String,
    /// What all sessions have saved.
    pub room: Arc<ArtifactRoom>,
}

/// Saves files into one folder. Clones write into the same.
#[derive(Clone)]
pub struct ToolArtifactStore {
    root: PathBuf,
    preview_chars: usize,
    preview_mode: PreviewMode,
    max_file_bytes: u64,
    index: Option<ArtifactIndex>,
}

impl ToolArtifactStore {
    /// Saves into `root`, which is made at the first file. Previews are the first 8,000 characters.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            preview_chars: 8000,
            preview_mode: PreviewMode::Head,
            max_file_bytes: MAX_FILE_BYTES,
            index: None,
        }
    }

    /// The store of one turn of a session: `data_dir/artifacts/s-<hash>`, with records.
    pub fn of_session(data_dir: &Path, index: ArtifactIndex) -> Self {
        Self { index: Some(index.clone()), ..Self::new(data_dir.join("artifacts").join(&index.session)) }
    }

    /// Folder name of a session: `s-` and 16 hex digits of its key's SHA-256.
    pub fn folder_of(session_key: &str) -> String {
        let hash = sha256_hex(session_key.as_bytes());
        format!("s-{}", hash.get(..16).unwrap_or(&hash))
    }

    /// Sets the length of previews.
    #[must_use]
    pub fn preview_chars(mut self, chars: usize) -> Self {
        self.preview_chars = chars;
        self
    }

    /// Sets the form of previews.
    #[must_use]
    pub fn preview_mode(mut self, mode: PreviewMode) -> Self {
        self.preview_mode = mode;
        self
    }

    /// Sets the size above which a file is not kept.
    #[must_use]
    pub fn max_file_bytes(mut self, bytes: u64) -> Self {
        self.max_file_bytes = bytes;
        self
    }

    /// Copies the file that `source` leads to. The copy keeps the extension, and the mime type follows from it.
    pub async fn persist_file(
        &self,
        tool_use_id: &str,
        source: &Path,
        preview: &str,
    ) -> Result<ToolArtifact, ArtifactError> {
        self.copy(tool_use_id, source, None, preview).await
    }

    /// The same for a file that must lie in one of `roots`.
    pub async fn persist_file_of(
        &self,
        tool_use_id: &str,
        source: &Path,
        roots: &[PathBuf],
        preview: &str,
    ) -> Result<ToolArtifact, ArtifactError> {
        self.copy(tool_use_id, source, Some(roots.to_vec()), preview).await
    }

    async fn copy(
        &self,
        tool_use_id: &str,
        source: &Path,
        roots: Option<Vec<PathBuf>>,
        preview: &str,
    ) -> Result<ToolArtifact, ArtifactError> {
        let (folder, stem, max) = (self.root.clone(), file_stem(tool_use_id), self.max_file_bytes);
        let source = source.to_path_buf();
        let (path, bytes, mime) = work(move || {
            let (real, from) = files::open(&source, roots.as_deref(), max)?;
            let extension = files::extension_of(&real);
            let name = if extension.is_empty() { stem } else { format!("{stem}.{extension}") };
            let (path, n) = files::create(&folder, &name, |to| files::copy(&from, to, &real, max))?;
            Ok((path, n, files::mime_of(&extension)))
        })
        .await?;
        self.note(tool_use_id, &path, bytes).await?;
        Ok(artifact(&path, mime, bytes, preview))
    }

    /// Writes a complete value as strict JSON, `.mcp.json`.
    pub async fn persist_json(
        &self,
        tool_use_id: &str,
        payload: &Value,
        preview: &str,
    ) -> Result<ToolArtifact, ArtifactError> {
        let bytes = serde_json::to_vec(payload)?;
        let (path, size) = self.write(tool_use_id, "mcp.json", bytes).await?;
        Ok(artifact(&path, "application/json", size, preview))
    }

    /// The same result when its text has at most `max_chars` characters; otherwise the text is saved whole and
    /// the model gets a preview and one notice that names path and length. Images all stay.
    pub async fn persist_if_large(
        &self,
        mut result: ToolResult,
        max_chars: usize,
    ) -> Result<ToolResult, ArtifactError> {
        let text = result.error.as_ref().map_or_else(|| joined_text(&result.content), |e| e.message.clone());
        let prefix = result.error.as_ref().map_or(0, |e| "Error[]: ".len() + e.code.chars().count());
        if text.chars().count() + prefix <= max_chars {
            return Ok(result);
        }
        let native = result.artifact.is_some();
        let extension = if native { "model.txt" } else { "txt" };
        let (path, size) = self.write(&result.tool_use_id, extension, text.clone().into_bytes()).await?;
        let name = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let limits = Limits { max: max_chars, preview: self.preview_chars, mode: self.preview_mode };
        let shown = with_notice(&text, &format!("{SHOWN_FOLDER}/{name}"), prefix, limits);
        match &mut result.error {
            Some(error) => error.message.clone_from(&shown),
            None => {
                let images =
                    result.content.drain(..).filter(|b| matches!(b, ContentBlock::Image { .. })).collect::<Vec<_>>();
                result.content = std::iter::once(ContentBlock::text(shown.clone())).chain(images).collect();
            }
        }
        match &mut result.artifact {
            Some(own) => own.text_path = Some(path.to_string_lossy().into_owned()),
            None => result.artifact = Some(artifact(&path, "text/plain", size, &shown)),
        }
        Ok(result)
    }

    async fn write(&self, tool_use_id: &str, extension: &str, bytes: Vec<u8>) -> Result<(PathBuf, u64), ArtifactError> {
        let (folder, name) = (self.root.clone(), format!("{}.{extension}", file_stem(tool_use_id)));
        let (path, size) = work(move || {
            let size = bytes.len() as u64;
            files::create(&folder, &name, |file| {
                std::io::Write::write_all(file, &bytes).map(|()| size).map_err(ArtifactError::io(&folder))
            })
        })
        .await?;
        self.note(tool_use_id, &path, size).await?;
        Ok((path, size))
    }

    /// Writes the record; a file without one would never be cleaned up, so it does not stay.
    async fn note(&self, tool_use_id: &str, path: &Path, bytes: u64) -> Result<(), ArtifactError> {
        let Some(index) = &self.index else { return Ok(()) };
        let name = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let value = json!({
            "session": index.session,
            "file": name,
            "bytes": bytes,
            "at_ms": index.clock.now().timestamp_millis(),
            "turn_id": index.turn_id,
            "call_id": tool_use_id,
        });
        let key = Key::new().str(&index.session).str(&name);
        let noted = index.store.batch(vec![Op::put(Tree::Artifacts, key, value)]).await;
        match noted {
            Ok(()) => index.room.add(bytes),
            Err(_) => files::remove(path),
        }
        Ok(noted?)
    }
}

async fn work<T: Send + 'static>(
    f: impl FnOnce() -> Result<T, ArtifactError> + Send + 'static,
) -> Result<T, ArtifactError> {
    blocking("artifact", f).await.map_err(|e| ArtifactError::Interrupted(e.to_string()))?
}

fn artifact(path: &Path, mime: &str, bytes: u64, preview: &str) -> ToolArtifact {
    ToolArtifact {
        path: path.to_string_lossy().into_owned(),
        mime_type: mime.to_string(),
        size_bytes: bytes,
        preview: preview.to_string(),
        text_path: None,
    }
}

/// The text blocks as one text, as a model's projection joins them.
pub(in crate::exec) fn joined_text(content: &[ContentBlock]) -> String {
    let texts: Vec<&str> = content
        .iter()
        .filter_map(|b| match b {
            ContentBlock::Text { text } => Some(text.as_str()),
            ContentBlock::Image { .. } => None,
        })
        .collect();
    texts.join("\n")
}

/// `c-<16 hex of the call id>-<32 random hex>`: nobody can guess or collide with another's name.
fn file_stem(tool_use_id: &str) -> String {
    let call = sha256_hex(tool_use_id.as_bytes());
    let seed = [uuid::Uuid::now_v7().into_bytes(), uuid::Uuid::now_v7().into_bytes()].concat();
    let random = sha256_hex(&seed);
    format!("c-{}-{}", call.get(..16).unwrap_or(&call), random.get(..32).unwrap_or(&random))
}
