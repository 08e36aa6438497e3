//! What goes wrong on purpose.

use crate::limits::{RateScope, fits};
use serde::{Deserialize, Serialize};

/// A fault.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// Of a REST request.
    Rest(RestFault),
    /// Of the gateway.
    Gateway(GatewayFault),
}

/// A fault of some requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RestFault {
    /// Method and path below `/api/v10`, for example `POST channels/*/messages`; `*` is one part or any method, a
    /// last `**` all parts that follow.
    pub on: String,
    /// The first fitting request it is played on, from 1.
    #[serde(default = "one")]
    pub nth: usize,
    /// How often; 0 is always.
    #[serde(default = "one")]
    pub times: usize,
    /// What happens.
    pub what: RestEffect,
}

fn one() -> usize {
    1
}

fn yes() -> bool {
    true
}

/// What happens to a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum RestEffect {
    /// An error answer instead.
    Status {
        /// HTTP status.
        status: u16,
        /// Discord's code.
        #[serde(default)]
        code: u32,
        /// Text.
        #[serde(default)]
        message: String,
        /// A page, as a proxy sends it, instead of JSON.
        #[serde(default)]
        html: bool,
    },
    /// 429; until `retry_after_ms` have passed every further request of the scope is refused too, as `early`.
    RateLimit {
        /// How long to wait.
        retry_after_ms: u64,
        /// Whose limit.
        #[serde(default)]
        scope: RateScope,
        /// Whether the headers say it.
        #[serde(default = "yes")]
        headers: bool,
        /// A page of the proxy, without a body to read and without a block.
        #[serde(default)]
        html: bool,
    },
    /// 404 with code 10062.
    UnknownInteraction,
    /// Nothing is done and no answer ever comes.
    Hang,
    /// It is done, and no answer ever comes.
    ApplyThenHang,
    /// Nothing is done and the connection breaks.
    Cut,
    /// It is done, then the connection breaks.
    ApplyThenCut,
    /// It is done and answered after this time of the server's clock.
    Delay {
        /// How long.
        ms: u64,
    },
}

impl RestFault {
    /// A fault of the next fitting request.
    pub fn once(on: impl Into<String>, what: RestEffect) -> Self {
        Self { on: on.into(), nth: 1, times: 1, what }
    }

    /// A fault of every fitting request.
    pub fn always(on: impl Into<String>, what: RestEffect) -> Self {
        Self { times: 0, ..Self::once(on, what) }
    }

    /// No member can be looked up.
    pub fn member_fetch() -> Self {
        let message = "Internal Server Error".into();
        Self::always("GET guilds/*/members/*", RestEffect::Status { status: 500, code: 0, message, html: false })
    }

    fn fits(&self, method: &str, parts: &[&str]) -> bool {
        let (verb, pattern) = self.on.split_once(' ').unwrap_or(("*", &self.on));
        (verb == "*" || verb == method) && fits(pattern.trim_start_matches('/'), parts)
    }
}

impl From<RestFault> for Fault {
    fn from(fault: RestFault) -> Self {
        Self::Rest(fault)
    }
}

impl From<GatewayFault> for Fault {
    fn from(fault: GatewayFault) -> Self {
        Self::Gateway(fault)
    }
}

/// What happens to connections and sessions. The first group happens at once to every open connection, the second
/// waits for its occasion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum GatewayFault {
    /// Closes with a code; the session can be resumed if Discord lets it be.
    Close {
        /// Code.
        code: u16,
    },
    /// Breaks the connection without a close frame.
    Cut,
    /// Asks the client to reconnect (operation 7).
    Reconnect,
    /// Says that the session is invalid (operation 9).
    InvalidSession {
        /// Whether it may be resumed.
        resumable: bool,
    },
    /// Heartbeats are not acknowledged from now on, or are again.
    StopAcks {
        /// Whether acknowledgements stop.
        #[serde(default = "yes")]
        on: bool,
    },
    /// Messages come without their content from now on, as without the intent, or come whole again.
    MissingContent {
        /// Whether content is missing.
        #[serde(default = "yes")]
        on: bool,
    },
    /// The next identifies are closed with a code.
    CloseOnIdentify {
        /// Code.
        code: u16,
        /// How many; 0 is every one.
        #[serde(default = "one")]
        times: usize,
    },
    /// The next resumes are answered with an invalid session.
    RefuseResume {
        /// How many; 0 is every one.
        #[serde(default = "one")]
        times: usize,
    },
    /// The next resume also repeats this many events the client has had already.
    Replay {
        /// How many.
        last: usize,
    },
    /// New connections wait at the door from now on, or are let in again: what happens meanwhile happens while nobody
    /// is connected.
    Hold {
        /// Whether they wait.
        #[serde(default = "yes")]
        on: bool,
    },
    /// The next connections are refused with 503.
    RefuseConnection {
        /// How many; 0 is every one.
        #[serde(default = "one")]
        times: usize,
    },
    /// The next connections hear nothing at all.
    Silent {
        /// How many; 0 is every one.
        #[serde(default = "one")]
        times: usize,
    },
    /// After READY come this many further guilds, one after each pause of the server's clock; nothing else, not
    /// even an acknowledgement, overtakes them.
    SlowBurst {
        /// Guilds.
        guilds: usize,
        /// Pause before each, milliseconds.
        #[serde(default)]
        pause_ms: u64,
    },
}

/// A fault that waits for so many occasions; `usize::MAX` for ever.
#[derive(Debug, Default)]
pub(crate) struct Charges(usize);

impl Charges {
    fn load(times: usize) -> Self {
        Self(if times == 0 { usize::MAX } else { times })
    }

    pub(crate) fn take(&mut self) -> bool {
        if self.0 == 0 {
            return false;
        }
        if self.0 != usize::MAX {
            self.0 -= 1;
        }
        true
    }
}

/// The faults that are loaded.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    rest: Vec<RestFault>,
    pub(crate) stop_acks: bool,
    pub(crate) missing_content: bool,
    pub(crate) close_on_identify: Option<(u16, Charges)>,
    pub(crate) refuse_resume: Charges,
    pub(crate) replay: usize,
    pub(crate) hold: bool,
    pub(crate) refuse_connection: Charges,
    pub(crate) silent: Charges,
    pub(crate) burst: Option<(usize, u64)>,
}

impl Faults {
    pub(crate) fn load_rest(&mut self, fault: RestFault) {
        self.rest.push(fault);
    }

    /// Loads a fault that waits; gives back one that happens at once.
    pub(crate) fn load_gateway(&mut self, fault: GatewayFault) -> Option<GatewayFault> {
        match fault {
            GatewayFault::StopAcks { on } => self.stop_acks = on,
            GatewayFault::MissingContent { on } => self.missing_content = on,
            GatewayFault::CloseOnIdentify { code, times } => {
                self.close_on_identify = Some((code, Charges::load(times)));
            }
            GatewayFault::RefuseResume { times } => self.refuse_resume = Charges::load(times),
            GatewayFault::Replay { last } => self.replay = last,
            GatewayFault::Hold { on } => self.hold = on,
            GatewayFault::RefuseConnection { times } => self.refuse_connection = Charges::load(times),
            GatewayFault::Silent { times } => self.silent = Charges::load(times),
            GatewayFault::SlowBurst { guilds, pause_ms } => self.burst = Some((guilds, pause_ms)),
            now => return Some(now),
        }
        None
    }

    /// The effect on a request; counts the request for every fault it fits.
    pub(crate) fn take(&mut self, method: &str, parts: &[&str]) -> Option<RestEffect> {
        let mut taken = None;
        self.rest.retain_mut(|fault| {
            if taken.is_some() || !fault.fits(method, parts) {
                return true;
            }
            if fault.nth > 1 {
                fault.nth -= 1;
                return true;
            }
            taken = Some(fault.what.clone());
            match fault.times {
                0 => true,
                1 => false,
                _ => {
                    fault.times -= 1;
                    true
                }
            }
        });
        taken
    }

    /// REST faults that still wait.
    pub(crate) fn waiting(&self) -> &[RestFault] {
        &self.rest
    }
}
