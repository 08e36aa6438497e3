//! The files by which a local program finds the host: socket, `control.json`, `control.token`.

use serde_json::json;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Version of the local protocol.
pub const PROTOCOL: u64 = 1;
/// Longest path a Unix socket takes on every platform.
const SOCKET_PATH_MAX: usize = 100;

/// The files of one running host; removed when dropped.
pub struct ControlFiles {
    /// Where the socket is.
    pub socket: PathBuf,
    /// What a client must send.
    pub token: String,
    data_dir: PathBuf,
}

impl ControlFiles {
    /// Chooses the socket's path and writes token and address. `runtime_dir` is used when the data folder's path is
    /// too long for a socket.
    pub fn write(data_dir: &Path, runtime_dir: Option<&Path>, started_at: &str) -> std::io::Result<Self> {
        let socket = socket_path(data_dir, runtime_dir)?;
        match fs::remove_file(&socket) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
        let token = fresh_token()?;
        let files = Self { socket, token, data_dir: data_dir.to_path_buf() };
        files.put("control.token", &format!("{}\n", files.token))?;
        let address = json!({
            "socket": files.socket, "pid": std::process::id(), "protocol": PROTOCOL, "started_at": started_at,
        });
        files.put("control.json", &format!("{address}\n"))?;
        Ok(files)
    }

    /// Written beside and renamed, readable by the owner only.
    fn put(&self, name: &str, text: &str) -> std::io::Result<()> {
        let target = self.data_dir.join(name);
        let fresh = self.data_dir.join(format!(".{name}.new"));
        let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
        file.write_all(text.as_bytes())?;
        fs::rename(fresh, target)
    }
}

impl Drop for ControlFiles {
    fn drop(&mut self) {
        for path in [self.data_dir.join("control.json"), self.data_dir.join("control.token"), self.socket.clone()] {
            if let Err(e) = fs::remove_file(&path)
                && e.kind() != std::io::ErrorKind::NotFound
            {
                tracing::warn!(error = %e, "a control file stays behind");
            }
        }
    }
}

fn socket_path(data_dir: &Path, runtime_dir: Option<&Path>) -> std::io::Result<PathBuf> {
    let near = data_dir.join("control.sock");
    if near.as_os_str().len() <= SOCKET_PATH_MAX {
        return Ok(near);
    }
    let digest = crate::index::sha256_hex(near.as_os_str().as_encoded_bytes());
    let short = digest.get(..16).unwrap_or(&digest);
    match runtime_dir {
        Some(dir) => Ok(dir.join(format!("understudy-{short}.sock"))),
        None => {
            Err(std::io::Error::other("the data folder's path is too long for a socket and XDG_RUNTIME_DIR is unset"))
        }
    }
}

/// 256 bits of the system's generator, hex.
fn fresh_token() -> std::io::Result<String> {
    use std::io::Read;
    let mut bytes = [0u8; 32];
    fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(hex::encode(bytes))
}

/// Compares without telling by time where two texts differ.
pub(super) fn same_secret(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    a.len() == b.len() && a.iter().zip(b).fold(0u8, |acc, (x, y)| acc | (x ^ y)) == 0
}
