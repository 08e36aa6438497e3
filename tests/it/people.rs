//! Generated tools and people, and what the predicate must say of each pair, written down a second time.

use std::fmt::Write;

/// A small generator with a fixed seed.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits") % n
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    fn some<'a>(&mut self, all: &[&'a str], most: usize) -> Vec<&'a str> {
        let count = self.below(most + 1);
        let mut out = Vec::new();
        for _ in 0..count {
            let one = self.of(all);
            if !out.contains(&one) {
                out.push(one);
            }
        }
        out
    }
}

/// A person in a place.
#[derive(Debug, Clone)]
pub(crate) struct Person {
    pub(crate) platform: &'static str,
    scope: &'static str,
    scene: &'static str,
    thread: Option<&'static str>,
    user: &'static str,
    /// `--role`.
    pub(crate) role: Option<&'static str>,
    /// `--perm`.
    pub(crate) perms: Vec<&'static str>,
}

impl Person {
    pub(crate) fn roll(dice: &mut Dice) -> Self {
        let scope = dice.of(&["private", "group", "channel"]);
        let user = dice.of(&["12", "123", "7", "42"]);
        let roles = [None, None, Some("user"), Some("trusted"), Some("master"), None];
        let platform = dice.of(&["telegram", "telegram", "discord", "console"]);
        let perms = match (platform, scope) {
            ("telegram", "group" | "channel") => dice.some(&["administrator", "restrict_members"], 2),
            _ => Vec::new(),
        };
        Self {
            platform,
            scope,
            scene: if scope == "private" { user } else { dice.of(&["-100", "-1001", "12", "123"]) },
            thread: (scope == "group" && dice.below(3) == 0).then_some("9"),
            user,
            role: roles[dice.below(roles.len())],
            perms,
        }
    }

    /// As `--as` takes it.
    pub(crate) fn subject(&self) -> String {
        let thread = self.thread.map(|t| format!("#{t}")).unwrap_or_default();
        format!("{}:{}:{}{thread}:user:{}", self.platform, self.scope, self.scene, self.user)
    }

    /// How far up the ladder; whoever is identified is at least a user.
    fn rank(&self) -> usize {
        let by_list = match (self.platform, self.user) {
            ("console", _) | ("telegram", "7") => "master",
            ("telegram", "42") => "trusted",
            _ => "user",
        };
        rank(self.role.unwrap_or(by_list))
    }
}

fn rank(role: &str) -> usize {
    ["user", "trusted", "master"].iter().position(|r| *r == role).unwrap_or(0)
}

/// One permit.
#[derive(Debug, Clone)]
struct Permit {
    kind: &'static str,
    args: Vec<&'static str>,
}

impl Permit {
    fn roll(dice: &mut Dice) -> Self {
        let kind = dice.of(&["role", "user", "group", "private", "channel", "adapter", "platform"]);
        let ids = ["-100", "-1001", "12", "123", "7", "42", "-100#9"];
        let args = match kind {
            "role" => vec![dice.of(&["user", "trusted", "master"])],
            "user" => match dice.below(3) {
                0 => vec!["*"],
                1 => vec![dice.of(&["telegram:12", "telegram:7", "discord:12", "console:42"])],
                _ => vec![dice.of(&["12", "123", "7"]), "42"],
            },
            "adapter" => match dice.below(3) {
                0 => vec![dice.of(&["telegram/main", "telegram/other", "console/main"])],
                _ => vec![dice.of(&["telegram", "console"]), "discord"],
            },
            "platform" => match dice.below(3) {
                0 => vec!["console", "owner"],
                _ => vec!["telegram", dice.of(&["administrator", "restrict_members", "pin_messages"])],
            },
            _ => match dice.below(4) {
                0 => vec![],
                1 => vec!["*"],
                2 => vec![dice.of(&ids)],
                _ => vec![dice.of(&ids), "-5"],
            },
        };
        Self { kind, args }
    }

    fn text(&self, dice: &mut Dice) -> String {
        let gap = dice.of(&[",", ", ", " , "]);
        format!("{}({})", self.kind, self.args.join(gap))
    }

    fn passes(&self, p: &Person) -> bool {
        let any = self.args.is_empty() || self.args == ["*"];
        let has = |value: &str| self.args.contains(&value);
        match self.kind {
            "role" => p.rank() >= rank(self.args[0]),
            "user" => any || has(p.user) || has(&format!("{}:{}", p.platform, p.user)),
            "adapter" => any || has(p.platform) || has(&format!("{}/main", p.platform)),
            "platform" if p.platform == "console" => self.args == ["console", "owner"],
            "platform" => self.args[0] == p.platform && p.perms.contains(&self.args[1]),
            scope => {
                let threaded = p.thread.map(|t| format!("{}#{t}", p.scene));
                let here = has(p.scene) || threaded.is_some_and(|t| has(&t));
                p.scope == scope && (any || here || (scope == "private" && has(p.user)))
            }
        }
    }
}

/// A generated tool.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    pub(crate) name: String,
    platforms: Vec<&'static str>,
    scopes: Vec<&'static str>,
    permits: Vec<Permit>,
    pub(crate) hidden: bool,
    pub(crate) off: bool,
    /// Its `tool.toml`.
    pub(crate) manifest: String,
}

impl Made {
    pub(crate) fn roll(n: usize, dice: &mut Dice) -> Self {
        let platforms = if dice.below(2) == 0 { vec![] } else { dice.some(&["telegram", "discord", "console"], 2) };
        let scopes = if dice.below(2) == 0 { vec![] } else { dice.some(&["private", "group", "channel"], 2) };
        let permits: Vec<Permit> = (0..dice.below(3)).map(|_| Permit::roll(dice)).collect();
        let (hidden, off) = (dice.below(6) == 0, n % 9 == 4);
        let mut manifest = format!("description = \"The tool of number {n}\"\ncapabilities = []\n");
        let texts: Vec<String> = permits.iter().map(|p| p.text(dice)).collect();
        let mut list = |key: &str, values: &[&str]| {
            if !values.is_empty() {
                writeln!(manifest, "{key} = {values:?}").expect("text");
            }
        };
        list("platforms", &platforms);
        list("scopes", &scopes);
        list("permissions", &texts.iter().map(String::as_str).collect::<Vec<_>>());
        if hidden {
            manifest.push_str("hidden = true\n");
        }
        manifest.push_str("run = { command = [\"./main.sh\"] }\n");
        Self { name: format!("quux{n:02}"), platforms, scopes, permits, hidden, off, manifest }
    }

    /// The same in a private place, without a switch.
    pub(crate) fn private(self, prefix: &str) -> Self {
        Self { name: format!("{prefix}{}", self.name), off: false, ..self }
    }

    /// What every way must say of it for this person.
    pub(crate) fn admits(&self, p: &Person) -> bool {
        !self.off
            && (self.platforms.is_empty() || self.platforms.contains(&p.platform))
            && (self.scopes.is_empty() || self.scopes.contains(&p.scope))
            && self.permits.iter().all(|permit| permit.passes(p))
    }
}
