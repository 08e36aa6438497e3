//! Rate limits: a bucket per route and place, one limit over all, and what a scripted 429 forbids.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

const GLOBAL: (u64, u64) = (50, 1_000);
/// Methods and path shapes, requests, window in milliseconds. `*` is one part.
const RULES: [(&str, &str, u64, u64); 12] = [
    ("POST", "channels/*/messages", 5, 5_000),
    ("PATCH", "channels/*/messages/*", 5, 5_000),
    ("DELETE", "channels/*/messages/*", 5, 1_000),
    ("GET", "channels/*/messages", 10, 5_000),
    ("PUT", "channels/*/messages/*/reactions/*/*", 1, 250),
    ("DELETE", "channels/*/messages/*/reactions/*/*", 1, 250),
    ("POST", "channels/*/typing", 5, 5_000),
    ("POST", "channels/*/threads", 5, 10_000),
    ("GET", "guilds/*/members/*", 5, 1_000),
    ("PUT", "applications/*/commands", 2, 5_000),
    ("POST", "webhooks/*/*", 5, 2_000),
    ("PATCH", "webhooks/*/*/messages/*", 5, 2_000),
];

/// Whose limit a 429 is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RateScope {
    /// This bot on this route.
    #[default]
    User,
    /// All bots on this resource; does not count towards the ban.
    Shared,
    /// This bot on every route.
    Global,
}

impl RateScope {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Shared => "shared",
            Self::Global => "global",
        }
    }
}

/// The bucket of a request.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Bucket {
    route: String,
    major: String,
    limit: u64,
    window_ms: u64,
    global: bool,
}

#[derive(Default)]
struct Window {
    from_ms: u64,
    used: u64,
}

#[derive(Clone, Copy)]
pub(crate) struct Block {
    until_ms: u64,
    scope: RateScope,
}

/// The state of all limits.
#[derive(Default)]
pub(crate) struct Buckets {
    windows: BTreeMap<Bucket, Window>,
    blocks: BTreeMap<Bucket, Block>,
    global: Window,
    global_block: Option<Block>,
}

/// A 429.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Limited {
    pub(crate) retry_ms: u64,
    pub(crate) scope: RateScope,
    /// An earlier 429 had forbidden this request.
    pub(crate) early: bool,
}

impl Limited {
    pub(crate) fn body(&self) -> Value {
        let seconds = seconds(self.retry_ms);
        let global = self.scope == RateScope::Global;
        let message = if self.scope == RateScope::Shared {
            "The resource is being rate limited."
        } else {
            "You are being rate limited."
        };
        json!({"message": message, "retry_after": seconds, "global": global})
    }

    pub(crate) fn headers(&self) -> Vec<(&'static str, String)> {
        let mut headers = vec![
            ("retry-after", self.retry_ms.div_ceil(1_000).to_string()),
            ("x-ratelimit-scope", self.scope.name().into()),
        ];
        if self.scope == RateScope::Global {
            headers.push(("x-ratelimit-global", "true".into()));
        }
        headers
    }
}

#[expect(clippy::cast_precision_loss, reason = "a time of minutes in thousandths")]
fn seconds(ms: u64) -> f64 {
    ms as f64 / 1_000.0
}

/// Whether parts fit a pattern whose `*` stands for one of them; a last `**` for all that follow.
pub(crate) fn fits(pattern: &str, parts: &[&str]) -> bool {
    let wanted: Vec<&str> = pattern.split('/').filter(|p| !p.is_empty()).collect();
    let open = wanted.last() == Some(&"**");
    let wanted = if open { wanted.split_last().map_or(&[][..], |(_, rest)| rest) } else { &wanted[..] };
    let long_enough = if open { parts.len() >= wanted.len() } else { parts.len() == wanted.len() };
    long_enough && wanted.iter().zip(parts).all(|(want, part)| *want == "*" || want == part)
}

impl Bucket {
    pub(crate) fn of(method: &str, parts: &[&str]) -> Self {
        let rule = RULES.iter().find(|(verb, pattern, ..)| *verb == method && fits(pattern, parts));
        let (route, limit, window_ms) = rule.map_or_else(
            || (format!("{method} {} {}", parts.first().unwrap_or(&""), parts.len()), 50, 1_000),
            |(verb, pattern, limit, window)| (format!("{verb} {pattern}"), *limit, *window),
        );
        // a webhook's limit belongs to its token
        let major = if parts.first() == Some(&"webhooks") { 1..3 } else { 1..2 };
        let major = parts.get(major).map(|p| p.join("/")).unwrap_or_default();
        let global = !matches!(parts.first(), Some(&"webhooks" | &"interactions"));
        Self { route, major, limit, window_ms, global }
    }

    fn hash_name(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.route.hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }
}

impl Buckets {
    /// Counts a request, or says how long it must wait. Not counted, it waits only for what a script forbids.
    pub(crate) fn take(&mut self, bucket: &Bucket, now_ms: u64, counted: bool) -> Result<(), Limited> {
        if let Some(block) = self.blocked(bucket, now_ms) {
            return Err(Limited { retry_ms: block.until_ms - now_ms, scope: block.scope, early: true });
        }
        if !counted {
            return Ok(());
        }
        if bucket.global && !count(&mut self.global, GLOBAL, now_ms) {
            let until_ms = self.global.from_ms + GLOBAL.1;
            self.global_block = Some(Block { until_ms, scope: RateScope::Global });
            return Err(Limited { retry_ms: until_ms - now_ms, scope: RateScope::Global, early: false });
        }
        let window = self.windows.entry(bucket.clone()).or_default();
        if count(window, (bucket.limit, bucket.window_ms), now_ms) {
            return Ok(());
        }
        let until_ms = window.from_ms + bucket.window_ms;
        self.blocks.insert(bucket.clone(), Block { until_ms, scope: RateScope::User });
        Err(Limited { retry_ms: until_ms - now_ms, scope: RateScope::User, early: false })
    }

    pub(crate) fn blocked(&self, bucket: &Bucket, now_ms: u64) -> Option<Block> {
        let global = self.global_block.filter(|_| bucket.global);
        let both = [global, self.blocks.get(bucket).copied()];
        both.into_iter().flatten().find(|block| block.until_ms > now_ms)
    }

    /// Forbids a bucket, or everything, for a time.
    pub(crate) fn block(&mut self, bucket: &Bucket, scope: RateScope, until_ms: u64) {
        let block = Block { until_ms, scope };
        match scope {
            RateScope::Global => self.global_block = Some(block),
            RateScope::User | RateScope::Shared => {
                self.blocks.insert(bucket.clone(), block);
            }
        }
    }

    /// What every answer says about its bucket.
    pub(crate) fn headers(&self, bucket: &Bucket, now_ms: u64) -> Vec<(&'static str, String)> {
        let (from_ms, used) = self.windows.get(bucket).map_or((now_ms, 0), |w| (w.from_ms, w.used));
        let reset_ms = (from_ms + bucket.window_ms).max(now_ms);
        vec![
            ("x-ratelimit-bucket", bucket.hash_name()),
            ("x-ratelimit-limit", bucket.limit.to_string()),
            ("x-ratelimit-remaining", bucket.limit.saturating_sub(used).to_string()),
            ("x-ratelimit-reset", format!("{:.3}", seconds(reset_ms))),
            ("x-ratelimit-reset-after", format!("{:.3}", seconds(reset_ms - now_ms))),
        ]
    }
}

fn count(window: &mut Window, (limit, length_ms): (u64, u64), now_ms: u64) -> bool {
    if now_ms >= window.from_ms + length_ms {
        *window = Window { from_ms: now_ms, used: 0 };
    }
    if window.used >= limit {
        return false;
    }
    window.used += 1;
    true
}
