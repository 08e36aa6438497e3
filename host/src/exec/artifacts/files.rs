//! Writing artifact files: never over another file, never half of one.

use crate::exec::error::ArtifactError;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Creates `folder` private to this user and `name` in it, and lets `fill` write. A failure leaves nothing.
pub(super) fn create(
    folder: &Path,
    name: &str,
    fill: impl FnOnce(&mut File) -> Result<u64, ArtifactError>,
) -> Result<(PathBuf, u64), ArtifactError> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(ArtifactError::io(folder))?;
    let path = folder.join(name);
    let mut file =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).map_err(ArtifactError::io(&path))?;
    let written = fill(&mut file).and_then(|n| file.flush().map(|()| n).map_err(ArtifactError::io(&path)));
    match written {
        Ok(n) => Ok((path, n)),
        Err(e) => {
            drop(file);
            remove(&path);
            Err(e)
        }
    }
}

/// Takes back a file that must not stay.
pub(super) fn remove(path: &Path) {
    if let Err(e) = std::fs::remove_file(path)
        && e.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(path = %path.display(), error = %e, "an unfinished artifact could not be removed");
    }
}

/// Opens a regular file, inside one of `roots` where there are any; links are followed first and the target is
/// judged.
pub(super) fn open(source: &Path, roots: Option<&[PathBuf]>, max: u64) -> Result<(PathBuf, File), ArtifactError> {
    let real = source.canonicalize().map_err(ArtifactError::io(source))?;
    let inside = |roots: &[PathBuf]| {
        roots.iter().filter_map(|r| r.canonicalize().ok()).any(|r| real.starts_with(&r) && real != r)
    };
    if !roots.is_none_or(inside) {
        return Err(ArtifactError::Outside(source.to_path_buf()));
    }
    // Without NONBLOCK a named pipe would hold the call for ever; NOFOLLOW refuses a link put there meanwhile.
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(i32::try_from(flags.bits()).unwrap_or(0))
        .open(&real)
        .map_err(ArtifactError::io(&real))?;
    let meta = file.metadata().map_err(ArtifactError::io(&real))?;
    if !meta.is_file() {
        return Err(ArtifactError::NotAFile(real));
    }
    if meta.len() > max {
        return Err(ArtifactError::TooLarge { path: real, bytes: meta.len(), max });
    }
    Ok((real, file))
}

/// Copies at most `max` bytes; a file that grows meanwhile is an error, not a cut copy.
pub(super) fn copy(from: &File, to: &mut File, path: &Path, max: u64) -> Result<u64, ArtifactError> {
    let copied = io::copy(&mut from.take(max.saturating_add(1)), to).map_err(ArtifactError::io(path))?;
    if copied > max {
        return Err(ArtifactError::TooLarge { path: path.to_path_buf(), bytes: copied, max });
    }
    Ok(copied)
}

/// The mime type an extension stands for.
pub(super) fn mime_of(extension: &str) -> &'static str {
    match extension.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "gif" => "image/gif",
        "svg" => "image/svg+xml",
        "pdf" => "application/pdf",
        "json" => "application/json",
        "csv" => "text/csv",
        "html" | "htm" => "text/html",
        "md" => "text/markdown",
        "xml" => "application/xml",
        "zip" => "application/zip",
        "gz" => "application/gzip",
        "mp3" => "audio/mpeg",
        "ogg" => "audio/ogg",
        "wav" => "audio/wav",
        "mp4" => "video/mp4",
        "txt" | "log" | "" => "text/plain",
        _ => "application/octet-stream",
    }
}

/// The extension of a path, if it is one that may become part of a name.
pub(super) fn extension_of(path: &Path) -> String {
    let text = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    let plain = !text.is_empty() && text.len() <= 16 && text.chars().all(|c| c.is_ascii_alphanumeric());
    if plain { text.to_string() } else { String::new() }
}
