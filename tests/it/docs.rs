//! The pages of `docs/` and the README do what they say: their files are written, their commands run, and what
//! they promise to print is there.
//!
//! In a page, a line that is only a path names the file that the block below it holds; a `sh` block is run; a
//! `text` block holds parts of what the `sh` block before it printed. `# exit N` ends a line that exits so.

use harness::binary;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// No page may take longer.
const LIMIT: Duration = Duration::from_secs(240);

/// A fenced block.
#[derive(Debug, PartialEq)]
enum Block {
    File { path: String, text: String },
    Run(String),
    Printed(Vec<String>),
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository").to_path_buf()
}

fn page(relative: &str) -> String {
    std::fs::read_to_string(repository().join(relative)).unwrap_or_else(|e| panic!("{relative}: {e}"))
}

/// The path of a line that is nothing else.
fn path_of(line: &str) -> Option<&str> {
    let inner = line.trim().strip_prefix('`')?.strip_suffix('`')?;
    let plain = inner.chars().all(|c| !c.is_whitespace() && c != '`');
    (plain && inner.contains('/')).then_some(inner)
}

fn blocks(text: &str) -> Vec<Block> {
    let (mut out, mut lines, mut before) = (Vec::new(), text.lines(), "");
    while let Some(line) = lines.next() {
        let Some(kind) = line.strip_prefix("```") else {
            if !line.trim().is_empty() {
                before = line;
            }
            continue;
        };
        let body: Vec<&str> = lines.by_ref().take_while(|l| !l.starts_with("```")).collect();
        let text = body.join("\n") + "\n";
        match (path_of(std::mem::take(&mut before)), kind.trim()) {
            (Some(path), _) => out.push(Block::File { path: path.to_string(), text }),
            (None, "sh") => out.push(Block::Run(text)),
            (None, "text") => {
                let parts = body.iter().map(|l| l.trim().to_string()).filter(|l| !l.is_empty());
                out.push(Block::Printed(parts.collect()));
            }
            _ => {}
        }
    }
    out
}

/// A command line; one that says how it exits is held to it.
fn command(line: &str) -> String {
    let Some((run, code)) = line.split_once("# exit ") else { return line.to_string() };
    let (run, code) = (run.trim_end(), code.trim());
    format!(
        "set +e\n{run}\ncode=$?; set -e; [ $code -eq {code} ] || {{ echo \"exit code $code, not {code}\"; exit 99; }}"
    )
}

/// The whole page as one script; block `n` prints into `n.out`.
fn script(blocks: &[Block], stage: &Path) -> String {
    let mut out = String::from("set -e\ntrap 'kill $(jobs -p) 2>/dev/null || :' EXIT\n");
    for (n, block) in blocks.iter().enumerate() {
        let at = stage.join(n.to_string());
        match block {
            Block::File { path, text } => {
                std::fs::write(&at, text).expect("a written file");
                let folder = Path::new(path).parent().expect("a folder").display();
                write!(out, "mkdir -p '{folder}'\ncp '{}' '{path}'\n", at.display()).expect("text");
            }
            Block::Run(text) => {
                let lines: Vec<String> = text.lines().map(command).collect();
                write!(out, "{{\n{}\n}} > '{}.out' 2>&1\n", lines.join("\n"), at.display()).expect("text");
            }
            Block::Printed(_) => {}
        }
    }
    out
}

fn printed(stage: &Path, n: usize) -> String {
    std::fs::read(stage.join(format!("{n}.out"))).map(|b| String::from_utf8_lossy(&b).into_owned()).unwrap_or_default()
}

/// Runs the blocks in an empty folder.
fn follow(name: &str, blocks: &[Block]) {
    let (stage, home) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let bin = binary().parent().expect("a folder").display().to_string();
    let mut shell = Command::new("sh");
    let text = format!("PATH='{bin}':\"$PATH\"\nexport PATH\n{}", script(blocks, stage.path()));
    shell.arg("-c").arg(text).current_dir(home.path()).env("NO_COLOR", "1").env_remove("OPENAI_API_KEY");
    shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // A group of its own: a host that a page starts in the background ends with the page.
    std::os::unix::process::CommandExt::process_group(&mut shell, 0);
    let mut child = shell.spawn().expect("a shell");
    let group = rustix::process::Pid::from_child(&child);
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if started.elapsed() > LIMIT {
            drop(child.kill());
            panic!("{name} did not end");
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    if let Err(e) = rustix::process::kill_process_group(group, rustix::process::Signal::TERM) {
        assert_eq!(e, rustix::io::Errno::SRCH, "only an empty group cannot be told");
    }
    let runs = || (0..blocks.len()).filter(|n| stage.path().join(format!("{n}.out")).exists());
    if !status.success() {
        let last = runs().max().unwrap_or_default();
        panic!("{name}: {status} in\n{:#?}\nwhich printed\n{}", blocks.get(last), printed(stage.path(), last));
    }
    let mut last = 0;
    for (n, block) in blocks.iter().enumerate() {
        match block {
            Block::Run(_) => last = n,
            Block::Printed(parts) => {
                let out = printed(stage.path(), last);
                let missing: Vec<&String> = parts.iter().filter(|p| !out.contains(p.as_str())).collect();
                assert!(missing.is_empty(), "{name}: not printed: {missing:?}\nbut\n{out}");
            }
            Block::File { .. } => {}
        }
    }
}

/// The tests need Rust and a shell only; the one page for Python authors is run where Python is.
fn has_python() -> bool {
    Command::new("python3").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// One test a page, and none forgotten.
macro_rules! pages {
    ($($test:ident: $path:literal,)*) => {
        const PAGES: &[&str] = &[$($path),*];
        $(
            #[test]
            fn $test() {
                let page = page($path);
                if page.contains("```python") && !has_python() {
                    eprintln!("SKIPPED: {} needs python3, which is not on this machine", $path);
                    return;
                }
                follow($path, &blocks(&page));
            }
        )*
    };
}

pages! {
    a_first_plugin: "docs/authors/first-plugin.md",
    a_tool_in_python: "docs/authors/python.md",
    input: "docs/authors/input.md",
    approvals: "docs/authors/approvals.md",
    configuration: "docs/authors/configuration.md",
    commands: "docs/authors/commands.md",
    agents: "docs/authors/agents.md",
    hooks: "docs/authors/hooks.md",
    skills: "docs/authors/skills.md",
    prompt_sections: "docs/authors/prompt-sections.md",
    access: "docs/authors/access.md",
    tests_of_a_bot: "docs/authors/tests.md",
    fake_models: "docs/authors/fake-models.md",
    diagnostics: "docs/authors/diagnostics.md",
    live_reload: "docs/authors/live-reload.md",
    running: "docs/operating/running.md",
    models: "docs/operating/models.md",
}

#[test]
fn no_page_is_forgotten() {
    let index = page("docs/authors/README.md");
    for folder in ["docs/authors", "docs/operating"] {
        for entry in std::fs::read_dir(repository().join(folder)).expect("a folder").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{folder}/{name}");
            assert!(name == "README.md" || PAGES.contains(&path.as_str()), "{path} is run by no test");
            assert!(folder != "docs/authors" || name == "README.md" || index.contains(&name), "{path} is not listed");
        }
    }
}

/// What a README may say that does not end or builds something: left out, or put in the background.
fn as_run_here(line: &str) -> Option<String> {
    let bare = line.split(" #").next().unwrap_or(line).trim_end();
    if bare.starts_with("cargo ") {
        return None;
    }
    if bare.starts_with("understudy run ") {
        let dir = bare.rsplit(' ').next().unwrap_or(".");
        return Some(format!(
            "{bare} > run.log 2>&1 &\nuntil understudy status --dir {dir} --ready; do sleep 0.2; done"
        ));
    }
    Some(line.to_string())
}

#[test]
fn the_readme_works_from_top_to_bottom() {
    let mut all = blocks(&page("README.md"));
    for block in &mut all {
        if let Block::Run(text) = block {
            *text = text.lines().filter_map(as_run_here).map(|l| l + "\n").collect();
        }
    }
    let has = |word: &str| all.iter().any(|b| matches!(b, Block::Run(t) if t.contains(word)));
    assert!(has("understudy new bot") && has("understudy reload"), "the README shows how to begin and to reload");
    all.retain(|b| !matches!(b, Block::Run(t) if t.trim().is_empty()));
    follow("README.md", &all);
}

#[test]
fn the_conversation_of_the_readme_is_answered() {
    let bot = harness::TestBot::copy_of("examples/full-bot");
    let text = page("README.md");
    let said: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("› ")).collect();
    assert!(said.len() >= 3, "the README shows a conversation");
    for line in said {
        let answer = bot.run(&["chat", ".", "--once", line]).exits(0).out;
        assert!(!answer.contains("I have no tool") && !answer.contains("I still need"), "{line}: {answer}");
    }
}

#[test]
fn blocks_are_read_as_the_pages_mean_them() {
    let text =
        "Text with `a/b` inside.\n```sh\nls\n```\n\n`a/b.toml`\n```toml\nx = 1\n```\n```text\n one\n\ntwo\n```\n";
    let file = Block::File { path: "a/b.toml".into(), text: "x = 1\n".into() };
    let printed = Block::Printed(vec!["one".into(), "two".into()]);
    assert_eq!(blocks(text), [Block::Run("ls\n".into()), file, printed]);
    assert!(command("false   # exit 1").contains("false\ncode=$?") && command("true  # why") == "true  # why");
}
