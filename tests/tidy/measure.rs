//! Measures one source file.

use std::path::Path;
use syn::spanned::Spanned;
use syn::visit::Visit;

const FILE_MAX: usize = 700;
const FUNCTION_MAX: usize = 80;
const FIELDS_MAX: usize = 12;
const METHODS_MAX: usize = 8;
const ARGUMENTS_MAX: usize = 6;
const NAME_ENDS: [&str; 6] = ["Manager", "Service", "Helper", "Util", "Common", "V2"];
const FIXED_NAMES: [&str; 2] = ["CommandService", "McpManager"];
/// Struct names whose many fields a chapter fixes.
const FIXED_SHAPES: [&str; 2] = ["ToolDef", "ToolExecutionContext"];

/// A source file.
pub struct Source {
    path: String,
    text: String,
}

impl Source {
    pub fn read(root: &Path, path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let path = path.strip_prefix(root).unwrap_or(path);
        Self { path: path.to_string_lossy().replace('\\', "/"), text }
    }

    pub fn from_text(path: &str, text: &str) -> Self {
        Self { path: path.into(), text: text.into() }
    }

    fn is_test(&self) -> bool {
        let p = &self.path;
        p.starts_with("tests/") || p.contains("/tests") || p.contains("/benches/") || p.contains("/examples/")
    }

    fn room_module(&self) -> bool {
        let parts: Vec<&str> = self.path.split('/').collect();
        matches!(parts.as_slice(), ["host", "src", room, "mod.rs"] if *room != "bin")
    }
}

/// One broken rule.
pub struct Finding {
    pub rule: &'static str,
    path: String,
    item: String,
    detail: String,
}

impl Finding {
    pub fn key(&self) -> String {
        if self.item.is_empty() {
            format!("{} {}", self.rule, self.path)
        } else {
            format!("{} {}:{}", self.rule, self.path, self.item)
        }
    }

    pub fn line(&self) -> String {
        format!("{}  ({})", self.key(), self.detail)
    }
}

/// Every finding of a file.
pub fn all(source: &Source) -> Vec<Finding> {
    let mut out = Vec::new();
    let lines = source.text.lines().count();
    if lines > FILE_MAX {
        out.push(finding(source, "long-file", "", format!("{lines} lines, at most {FILE_MAX}")));
    }
    if source.room_module() && !source.text.starts_with("//! Room ") {
        out.push(finding(source, "room-card", "", "a room's mod.rs opens with its card".into()));
    }
    match syn::parse_file(&source.text) {
        Ok(file) => {
            let mut visitor = Visitor { source, out: &mut out };
            visitor.visit_file(&file);
        }
        Err(e) => out.push(finding(source, "syntax", "", e.to_string())),
    }
    out
}

fn finding(source: &Source, rule: &'static str, item: &str, detail: String) -> Finding {
    Finding { rule, path: source.path.clone(), item: item.into(), detail }
}

struct Visitor<'a> {
    source: &'a Source,
    out: &'a mut Vec<Finding>,
}

impl Visitor<'_> {
    fn add(&mut self, rule: &'static str, item: impl ToString, detail: String) {
        let f = finding(self.source, rule, &item.to_string(), detail);
        self.out.push(f);
    }

    fn function(&mut self, sig: &syn::Signature, lines: usize) {
        let name = sig.ident.to_string();
        if lines > FUNCTION_MAX && !self.source.is_test() {
            self.add("long-function", &name, format!("{lines} lines, at most {FUNCTION_MAX}"));
        }
        let arguments = sig.inputs.iter().filter(|a| matches!(a, syn::FnArg::Typed(_))).count();
        if arguments > ARGUMENTS_MAX {
            self.add("arguments", &name, format!("{arguments} arguments, at most {ARGUMENTS_MAX}"));
        }
        if (name == "latest" || name == "current") && !self.source.is_test() {
            self.add("name", &name, "nothing is looked up as `latest` or `current`: a lease is the only reader".into());
        }
    }

    fn type_name(&mut self, name: &str) {
        if NAME_ENDS.iter().any(|e| name.ends_with(e)) && !FIXED_NAMES.contains(&name) {
            self.add("name", name, "says nothing about what it is".into());
        }
    }

    /// The mark stands in a comment directly above the item or between its attributes.
    fn has_shape_mark(&self, line: usize) -> bool {
        let lines: Vec<&str> = self.source.text.lines().collect();
        (0..line.min(lines.len())).rev().take(16).map(|i| lines[i].trim()).take_while(|l| !l.starts_with('}')).any(
            |l| {
                l.strip_prefix("// SHAPE: ")
                    .is_some_and(|s| s.contains('§') && s.starts_with(|c: char| c.is_ascii_digit()))
            },
        )
    }
}

fn is_cfg_test(attrs: &[syn::Attribute]) -> bool {
    attrs
        .iter()
        .any(|a| a.path().is_ident("cfg") && a.meta.require_list().is_ok_and(|l| l.tokens.to_string() == "test"))
}

impl<'ast> Visit<'ast> for Visitor<'_> {
    fn visit_item_mod(&mut self, node: &'ast syn::ItemMod) {
        if !is_cfg_test(&node.attrs) {
            syn::visit::visit_item_mod(self, node);
        }
    }

    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        let span = node.block.span();
        self.function(&node.sig, span.end().line - span.start().line + 1);
        syn::visit::visit_item_fn(self, node);
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        let span = node.block.span();
        self.function(&node.sig, span.end().line - span.start().line + 1);
        syn::visit::visit_impl_item_fn(self, node);
    }

    fn visit_item_struct(&mut self, node: &'ast syn::ItemStruct) {
        let name = node.ident.to_string();
        self.type_name(&name);
        let fields = node.fields.len();
        let fixed = FIXED_SHAPES.contains(&name.as_str()) || self.has_shape_mark(node.ident.span().start().line);
        if fields > FIELDS_MAX && !fixed && !self.source.is_test() {
            self.add("wide-struct", &name, format!("{fields} fields, at most {FIELDS_MAX}"));
        }
        syn::visit::visit_item_struct(self, node);
    }

    fn visit_item_enum(&mut self, node: &'ast syn::ItemEnum) {
        self.type_name(&node.ident.to_string());
        syn::visit::visit_item_enum(self, node);
    }

    fn visit_item_trait(&mut self, node: &'ast syn::ItemTrait) {
        self.type_name(&node.ident.to_string());
        let methods = node.items.iter().filter(|i| matches!(i, syn::TraitItem::Fn(_))).count();
        if methods > METHODS_MAX {
            self.add("wide-trait", &node.ident, format!("{methods} methods, at most {METHODS_MAX}"));
        }
        syn::visit::visit_item_trait(self, node);
    }
}
