//! Files on their way out: a copy on disk, a text in the address itself, a link, or a file Telegram has already.

use plugin_sdk::{MediaRef, MediaSource, SendError};
use teloxide_core::types::{FileId, InputFile};

/// The file of a segment. A copy of the host is handed over as a `file:` address.
pub(crate) fn input(media: &MediaRef) -> Result<InputFile, SendError> {
    let unusable = |why: &str| SendError::Permanent(format!("the file cannot be sent: {why}"));
    let file = match &media.source {
        MediaSource::PlatformFile(id) => return Ok(InputFile::file_id(FileId(id.clone()))),
        MediaSource::Store(_) => return Err(unusable("it is a name of the host's own store")),
        MediaSource::Url(address) => {
            if let Some(data) = address.strip_prefix("data:") {
                InputFile::memory(inline(data).ok_or_else(|| unusable("its address holds no bytes"))?)
            } else {
                let url = url::Url::parse(address).map_err(|_| unusable("its address is none"))?;
                match url.scheme() {
                    "file" => InputFile::file(url.to_file_path().map_err(|()| unusable("its path is none"))?),
                    "http" | "https" => InputFile::url(url),
                    _ => return Err(unusable("nothing is fetched from such an address")),
                }
            }
        }
    };
    Ok(match &media.name {
        Some(name) => file.file_name(name.clone()),
        None => file,
    })
}

/// Bytes of a `data:` address behind its scheme, percent-encoded.
fn inline(data: &str) -> Option<Vec<u8>> {
    let (head, body) = data.split_once(',')?;
    if head.ends_with(";base64") {
        return None;
    }
    Some(percent_encoding::percent_decode_str(body).collect())
}
