//! Dependencies point one way: between rooms of the host by the order in `lib.rs`, between crates by
//! what their manifests name.

use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Rooms in order, from the `pub mod` lines of `lib.rs`.
fn rooms() -> Vec<String> {
    read(&root().join("host/src/lib.rs"))
        .lines()
        .filter_map(|l| l.strip_prefix("pub mod ")?.strip_suffix(';').map(str::to_string))
        .collect()
}

fn files(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// Names after `crate::` anywhere in the tokens, outside `#[cfg(test)]` items.
fn crate_paths(tokens: TokenStream, out: &mut Vec<String>) {
    let list: Vec<TokenTree> = tokens.into_iter().collect();
    let mut i = 0;
    while i < list.len() {
        if is_cfg_test(&list, i) {
            i = skip_item(&list, i + 2);
            continue;
        }
        if let TokenTree::Ident(word) = &list[i]
            && word == "crate"
            && let Some(TokenTree::Punct(colon)) = list.get(i + 1)
            && colon.as_char() == ':'
        {
            match list.get(i + 3) {
                Some(TokenTree::Ident(name)) => out.push(name.to_string()),
                Some(TokenTree::Group(group)) => out.extend(group_heads(group.stream())),
                _ => {}
            }
        }
        if let TokenTree::Group(group) = &list[i] {
            crate_paths(group.stream(), out);
        }
        i += 1;
    }
}

/// First names of a `{a::b, c}` list.
fn group_heads(tokens: TokenStream) -> Vec<String> {
    let mut out = Vec::new();
    let mut head = true;
    for t in tokens {
        match t {
            TokenTree::Ident(i) if head => {
                out.push(i.to_string());
                head = false;
            }
            TokenTree::Punct(p) if p.as_char() == ',' => head = true,
            _ => {}
        }
    }
    out
}

fn is_cfg_test(list: &[TokenTree], at: usize) -> bool {
    let (Some(TokenTree::Punct(hash)), Some(TokenTree::Group(group))) = (list.get(at), list.get(at + 1)) else {
        return false;
    };
    hash.as_char() == '#' && group.stream().to_string().replace(' ', "") == "cfg(test)"
}

fn skip_item(list: &[TokenTree], mut at: usize) -> usize {
    while let Some(token) = list.get(at) {
        at += 1;
        match token {
            TokenTree::Punct(p) if p.as_char() == ';' => break,
            TokenTree::Group(g) if g.delimiter() == proc_macro2::Delimiter::Brace => break,
            _ => {}
        }
    }
    at
}

fn uses(text: &str) -> Vec<String> {
    let tokens: TokenStream = text.parse().expect("a source file is made of tokens");
    let mut out = Vec::new();
    crate_paths(tokens, &mut out);
    out
}

#[test]
fn a_room_uses_only_rooms_above_it() {
    let rooms = rooms();
    assert!(rooms.len() >= 27, "rooms not read: {rooms:?}");
    let order: BTreeMap<&str, usize> = rooms.iter().enumerate().map(|(i, r)| (r.as_str(), i)).collect();
    let src = root().join("host/src");
    let mut broken = Vec::new();
    for room in &rooms {
        let mut list = Vec::new();
        files(&src.join(room), &mut list);
        for file in list.iter().filter(|f| !f.to_string_lossy().contains("tests")) {
            for used in uses(&read(file)) {
                match order.get(used.as_str()) {
                    Some(n) if *n > order[room.as_str()] => {
                        broken.push(format!(
                            "{} uses `{used}` below it",
                            file.strip_prefix(root()).unwrap_or(file).display()
                        ));
                    }
                    Some(_) => {}
                    None => broken.push(format!("{} uses crate::{used}, which is no room", file.display())),
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn an_upward_use_is_found() {
    let text = "use crate::{turn::run, store::Store};\n#[cfg(test)] mod tests { use crate::app::X; }\nfn f() { crate::exec::g() }";
    assert_eq!(uses(text), ["turn", "store", "exec"]);
}

#[test]
fn adapters_and_plugins_depend_on_the_contract_only() {
    let ours = [
        "host",
        "adapter-console",
        "understudy-tests",
        "fake-model",
        "fake-openai",
        "fake-anthropic",
        "fake-discord",
        "fake-telegram",
    ];
    for top in ["adapters", "plugins"] {
        for entry in std::fs::read_dir(root().join(top)).into_iter().flatten().flatten() {
            let manifest = entry.path().join("Cargo.toml");
            if !manifest.is_file() {
                continue;
            }
            let table: toml::Table = read(&manifest).parse().expect("a manifest is TOML");
            let names = table.get("dependencies").and_then(|d| d.as_table()).cloned().unwrap_or_default();
            for name in names.keys() {
                assert!(!ours.contains(&name.as_str()), "{} depends on {name}", manifest.display());
            }
        }
    }
}

#[test]
fn the_host_library_names_no_adapter_and_no_plugin() {
    let mut list = Vec::new();
    files(&root().join("host/src"), &mut list);
    for file in list.iter().filter(|f| !f.to_string_lossy().contains("/bin/")) {
        assert!(!read(file).contains("adapter_console"), "{} names an adapter", file.display());
    }
}
