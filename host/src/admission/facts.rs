//! The facts of one message and the answer of the predicate.

use plugin_sdk::{ConversationRef, Principal, Scope, ToolDef};

/// What the predicate judges: the same facts for every origin.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// Where; `platform` and `endpoint` are the tool's `platforms` and `adapter()` facts.
    pub conversation: ConversationRef,
    /// Who, with the host role already looked up in the `LivePolicy`.
    pub principal: Principal,
    /// Platform permissions held here: `None` = not looked up, `Err` = the lookup failed.
    pub platform_permissions: Option<Result<Vec<String>, String>>,
    /// Whether somebody can be asked.
    pub attended: bool,
}

/// The admission fields of anything that is admitted.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Rules {
    /// Empty = all.
    pub platforms: Vec<String>,
    /// Empty = all.
    pub scopes: Vec<Scope>,
    /// AND over entries.
    pub permissions: Vec<String>,
}

impl Rules {
    /// The rules of a tool definition (`adapter` counts as its platform).
    pub fn of(def: &ToolDef) -> Self {
        let mut platforms = def.options.platforms.clone();
        if let (true, Some(a)) = (platforms.is_empty(), &def.options.adapter) {
            platforms.push(a.clone());
        }
        Self { platforms, scopes: def.options.scopes.clone(), permissions: def.options.permissions.clone() }
    }
}

/// Why something is not admitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    /// `admission::disabled|platform|scope|unknown-permit|lookup-failed|permit`.
    pub reason: &'static str,
    /// The entry and why.
    pub detail: String,
}
