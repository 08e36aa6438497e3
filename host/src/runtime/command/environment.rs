//! What a program is given of its surroundings: exactly this, nothing of the host's own environment.

use super::{CommandError, CommandSpec, HostEnv};
use crate::task::blocking;
use plugin_sdk::OwnerPath;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Makes the owner's data folder and the two folders below it, private to this user.
pub(super) async fn prepare_home(data_dir: &Path, owner: &OwnerPath) -> Result<PathBuf, CommandError> {
    let home = crate::runtime::owner_folder(data_dir, owner);
    let made = home.clone();
    let outcome = blocking("home", move || -> io::Result<()> {
        private_folder(&made)?;
        private_folder(&made.join("tmp"))?;
        private_folder(&made.join("pycache"))
    })
    .await;
    match outcome {
        Ok(Ok(())) => Ok(home),
        Ok(Err(e)) => Err(CommandError::Prepare(format!("the data folder {} cannot be made: {e}", home.display()))),
        Err(e) => Err(CommandError::Prepare(format!("the data folder {} cannot be made: {e}", home.display()))),
    }
}

fn private_folder(path: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => {
            if meta.permissions().mode() & 0o077 != 0 {
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700))?;
            }
            Ok(())
        }
        Ok(_) => Err(io::Error::new(io::ErrorKind::NotADirectory, "not a folder")),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
        }
        Err(e) => Err(e),
    }
}

/// The whole environment of a call.
pub(super) fn variables(spec: &CommandSpec, host: &HostEnv, home: &Path, call_id: &str) -> Vec<(String, String)> {
    let text = |p: &Path| p.to_string_lossy().into_owned();
    // Granted names come first: a fixed name below always wins over one of them.
    let mut out = spec.env.clone();
    out.extend([
        ("PATH".to_string(), host.path.clone()),
        ("LANG".into(), "C.UTF-8".into()),
        ("LC_ALL".into(), "C.UTF-8".into()),
        ("TZ".into(), if host.timezone.is_empty() { "UTC".into() } else { host.timezone.clone() }),
        ("HOME".into(), text(home)),
        ("UNDERSTUDY_DATA_DIR".into(), text(home)),
        ("TMPDIR".into(), text(&home.join("tmp"))),
        ("PYTHONPYCACHEPREFIX".into(), text(&home.join("pycache"))),
        ("UNDERSTUDY_PLUGIN_DIR".into(), text(&spec.plugin_dir)),
        ("UNDERSTUDY_CALL_ID".into(), call_id.to_string()),
    ]);
    out
}
