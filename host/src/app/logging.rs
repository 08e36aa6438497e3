//! Logs of the process: one line per event, redacted at the sink.

use crate::config::{LogFormat, LogLevel, Redactor, TelemetryConfig};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// Writes to a target, with secrets taken out of every line.
#[derive(Clone)]
struct Redacted {
    target: Arc<Mutex<Box<dyn Write + Send>>>,
    redactor: Arc<Redactor>,
}

impl Write for Redacted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let clean = self.redactor.redact(&text);
        self.target.lock().unwrap_or_else(PoisonError::into_inner).write_all(clean.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.target.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }
}

impl<'a> MakeWriter<'a> for Redacted {
    type Writer = Redacted;
    fn make_writer(&'a self) -> Redacted {
        self.clone()
    }
}

/// Installs the process's logger. `level` overrides the configuration (a chat shows only warnings).
pub fn init_logging(
    settings: &TelemetryConfig,
    bot_dir: &Path,
    redactor: Arc<Redactor>,
    level: Option<LogLevel>,
) -> io::Result<()> {
    let (target, terminal): (Box<dyn Write + Send>, bool) = match &settings.log_file {
        Some(file) => {
            let path = bot_dir.join(file);
            (Box::new(std::fs::OpenOptions::new().create(true).append(true).open(path)?), false)
        }
        None => (Box::new(io::stderr()), io::stderr().is_terminal()),
    };
    let level = match level.unwrap_or(settings.log_level) {
        LogLevel::Error => "error",
        LogLevel::Warn => "warn",
        LogLevel::Info => "info",
        LogLevel::Debug => "debug",
        LogLevel::Trace => "trace",
    };
    let writer = Redacted { target: Arc::new(Mutex::new(target)), redactor };
    let filter = EnvFilter::new(format!("warn,host={level},understudy={level}"));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).with_ansi(false);
    let json = settings.log_format.map_or(!terminal, |f| f == LogFormat::Json);
    // A second host in one process keeps the first one's logger.
    let installed = if json { builder.json().try_init() } else { builder.try_init() };
    drop(installed);
    Ok(())
}
