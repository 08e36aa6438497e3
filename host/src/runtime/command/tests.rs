//! Real processes: short shell scripts, each in a tool folder of its own.

use super::*;
use crate::task::{Clock, SystemClock, Tasks};
use plugin_sdk::{CancellationSignal, ContentBlock, ToolError};
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

struct Bench {
    dir: tempfile::TempDir,
    pool: Arc<CommandPool>,
    tasks: Tasks,
}

impl Bench {
    fn new() -> Self {
        Self::with_places(8)
    }

    fn with_places(parallel: usize) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("tool")).unwrap();
        fs::create_dir(dir.path().join("ws")).unwrap();
        let tasks = Tasks::new();
        let host = HostEnv { path: "/usr/local/bin:/usr/bin:/bin".into(), timezone: "UTC".into() };
        let pool = CommandPool::new(parallel, SystemClock::shared(), dir.path().join("data"), tasks.clone(), host);
        Self { dir, pool: Arc::new(pool), tasks }
    }

    fn tool_dir(&self) -> PathBuf {
        self.dir.path().join("tool")
    }

    fn script(&self, name: &str, body: &str) -> PathBuf {
        let path = self.tool_dir().join(name);
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn spec(&self, argv: &[&str]) -> CommandSpec {
        CommandSpec {
            argv: argv.iter().map(|s| s.to_string()).collect(),
            cwd: RunCwd::Tool,
            tool_dir: self.tool_dir(),
            plugin_dir: self.dir.path().to_path_buf(),
            owner: OwnerPath::new("games/dice"),
            env: Vec::new(),
        }
    }

    fn cx(&self, seconds: f64) -> ToolExecutionContext {
        let mut cx = ToolExecutionContext::new(self.dir.path().join("ws"));
        cx.call_id = "c1".into();
        cx.tool_timeout_seconds = Some(seconds);
        cx
    }

    async fn argv(&self, argv: &[&str]) -> ToolResult {
        bind(self.spec(argv), Arc::clone(&self.pool)).call(Map::new(), &self.cx(30.0)).await
    }

    /// Runs a script as `./main.sh`.
    async fn sh(&self, body: &str) -> ToolResult {
        self.script("main.sh", body);
        self.argv(&["./main.sh"]).await
    }

    fn listed(&self) -> usize {
        fs::read_dir(self.dir.path().join("data/children")).map_or(0, Iterator::count)
    }
}

fn text(result: &ToolResult) -> &str {
    match result.content.as_slice() {
        [ContentBlock::Text { text }] => text,
        other => panic!("not one text: {other:?}"),
    }
}

fn error(result: &ToolResult) -> &ToolError {
    result.error.as_ref().unwrap_or_else(|| panic!("no error: {result:?}"))
}

/// Polls for something another process does. Only the failing case takes long.
async fn eventually(what: &str, mut ok: impl FnMut() -> bool) {
    let start = SystemClock::new();
    while !ok() {
        assert!(start.monotonic() < Duration::from_secs(20), "never: {what}");
        start.sleep(Duration::from_millis(5)).await;
    }
}

fn alive(pid: &str) -> bool {
    // A zombie nobody has reaped yet is not alive.
    fs::read_to_string(format!("/proc/{}/stat", pid.trim()))
        .ok()
        .and_then(|s| s.rsplit_once(") ").map(|(_, rest)| !rest.starts_with('Z')))
        .unwrap_or(false)
}

#[tokio::test]
async fn text_data_and_results() {
    let b = Bench::new();
    assert_eq!(text(&b.sh("printf hello").await), "hello");
    assert_eq!(text(&b.sh("printf '42'").await), "42");
    assert_eq!(text(&b.sh("printf '[half'").await), "[half");
    assert!(b.sh(":").await.content.is_empty());

    let data = b.sh(r#"echo '{"temp": 21, "unit": "C"}'"#).await;
    assert_eq!(text(&data), r#"{"temp":21,"unit":"C"}"#);
    assert_eq!(Value::Object(data.data.clone()), json!({"temp": 21, "unit": "C"}));

    let list = b.sh("echo ' [1, 2]'").await;
    assert_eq!(text(&list), "[1,2]");
    assert_eq!(list.data["value"], json!([1, 2]));

    let full = b.sh(r#"echo '{"content":[{"type":"text","text":"hi"}],"data":{"n":1},"stats":{"rows":2}}'"#).await;
    assert_eq!(text(&full), "hi");
    assert_eq!((&full.data["n"], &full.stats["rows"]), (&json!(1), &json!(2)));

    let own = b.sh(r#"echo '{"error":{"code":"NO_SUCH_CITY","message":"never heard of it","retryable":true}}'"#).await;
    assert!(own.is_error && error(&own).retryable);
    assert_eq!(error(&own).code, "NO_SUCH_CITY");
}

#[tokio::test]
async fn unusable_output_is_invalid_result() {
    let b = Bench::new();
    for (body, part) in [
        (r#"echo '{"data": {"n":1}, "extra": 2}'"#, "`extra`"),
        (r#"printf '{"temp": 2'"#, "not one JSON object"),
        (r#"echo '{"a":1}{"b":2}'"#, "not one JSON object"),
        (r#"echo '{"content": "text"}'"#, "not a result"),
        (r#"printf 'caf\351'"#, "not UTF-8 (byte 3)"),
        ("head -c 4000 /dev/zero | tr '\\0' '{'", "not one JSON object"),
    ] {
        let result = b.sh(body).await;
        assert_eq!(error(&result).code, "INVALID_RESULT", "{body}");
        assert!(error(&result).message.contains(part), "{body}: {}", error(&result).message);
    }
}

#[tokio::test]
async fn too_much_output_stops_the_program() {
    let b = Bench::new();
    let start = SystemClock::new();
    let five_mb = b.sh("head -c 5000000 /dev/zero | tr '\\0' 'x'; sleep 60").await;
    assert_eq!(error(&five_mb).code, "OUTPUT_TOO_LARGE");
    assert!(start.monotonic() < Duration::from_secs(20));
    assert_eq!(error(&b.sh("exec yes").await).code, "OUTPUT_TOO_LARGE");
    let whole = b.sh("head -c 1048576 /dev/zero | tr '\\0' 'x'").await;
    assert_eq!(text(&whole).len(), 1024 * 1024);
    assert_eq!(b.listed(), 0);
}

#[tokio::test]
async fn a_failing_program_shows_its_code_and_first_line() {
    let b = Bench::new();
    let failed = b.sh("echo 'first line' >&2; echo 'second' >&2; exit 3").await;
    assert_eq!(error(&failed).code, "COMMAND_FAILED");
    assert_eq!(error(&failed).message, "exit code 3: first line");
    assert_eq!(error(&failed).details["exit_code"], json!(3));
    assert_eq!(error(&failed).details["stderr"], json!("first line\nsecond\n"));
    assert_eq!(failed.metadata["stderr"], json!("first line\nsecond\n"));

    let killed = b.sh("kill -9 $$").await;
    assert_eq!(error(&killed).message, "ended by signal 9");
    assert_eq!(error(&killed).details["signal"], json!(9));

    let read_only = b.sh("echo 'touch: x: Read-only file system' >&2; exit 1").await;
    assert!(error(&read_only).help.as_ref().unwrap().contains("$UNDERSTUDY_DATA_DIR"));

    let long = b.sh("head -c 300000 /dev/zero | tr '\\0' 'é' >&2; exit 1").await;
    assert_eq!(error(&long).details["stderr"].as_str().unwrap().chars().count(), 2000);
    assert!(long.metadata["stderr"].as_str().unwrap().len() <= 64 * 1024);
    assert!(error(&long).message.chars().count() < 600);
}

#[tokio::test]
async fn stderr_of_a_success_is_kept_beside_it() {
    let b = Bench::new();
    let result = b.sh("echo note >&2; printf ok").await;
    assert_eq!((text(&result), &result.metadata["stderr"]), ("ok", &json!("note\n")));
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    let b = Bench::new();
    let absent = b.argv(&["no-such-program-here"]).await;
    assert_eq!(error(&absent).code, "COMMAND_FAILED");
    assert!(error(&absent).message.contains("not on PATH"));

    let gone = b.argv(&["./gone.sh"]).await;
    assert!(error(&gone).message.contains("`./gone.sh` does not exist"), "{gone:?}");

    let path = b.script("plain.sh", ":");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(error(&b.argv(&["plain.sh"]).await).message.contains("not executable"));

    let crlf = b.tool_dir().join("crlf.sh");
    fs::write(&crlf, "#!/bin/sh\r\necho hi\r\n").unwrap();
    fs::set_permissions(&crlf, fs::Permissions::from_mode(0o755)).unwrap();
    let broken = b.argv(&["./crlf.sh"]).await;
    assert_eq!(error(&broken).code, "COMMAND_FAILED");
    assert!(error(&broken).help.as_ref().unwrap().contains("#!"));

    let bare = b.tool_dir().join("bare");
    fs::write(&bare, [0u8, 1, 2, 3]).unwrap();
    fs::set_permissions(&bare, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(error(&b.argv(&["./bare"]).await).code, "COMMAND_FAILED");
    assert_eq!(b.listed(), 0);
}

#[tokio::test]
async fn the_input_is_one_object_and_then_the_end() {
    let b = Bench::new();
    b.script("main.sh", "cat; printf ' '");
    let mut input = Map::new();
    input.insert("city".into(), json!("Zürich"));
    let tool = bind(b.spec(&["main.sh"]), Arc::clone(&b.pool));
    let seen = tool.call(input, &b.cx(30.0)).await;
    let seen = Value::Object(seen.data);
    assert_eq!(seen["input"], json!({"city": "Zürich"}));
    assert!(seen["context"]["data_dir"].as_str().unwrap().ends_with("plugins/games+dice"));
    assert!(seen["context"]["deadline_ms"].as_u64().unwrap() <= 30_000);
    assert_eq!(seen.as_object().unwrap().len(), 2);
}

#[tokio::test]
async fn a_big_input_that_nobody_reads_is_no_fault() {
    let b = Bench::new();
    b.script("main.sh", "printf done");
    let mut input = Map::new();
    input.insert("blob".into(), json!("x".repeat(2_000_000)));
    let result = bind(b.spec(&["main.sh"]), Arc::clone(&b.pool)).call(input, &b.cx(30.0)).await;
    assert_eq!(text(&result), "done");
}

#[tokio::test]
async fn the_environment_is_exactly_the_list() {
    let b = Bench::new();
    let mut spec = b.spec(&["env"]);
    spec.env = vec![("GRANTED".into(), "yes".into()), ("HOME".into(), "/elsewhere".into())];
    let result = bind(spec, Arc::clone(&b.pool)).call(Map::new(), &b.cx(30.0)).await;
    let mut names: Vec<&str> = text(&result).lines().filter_map(|l| l.split_once('=').map(|p| p.0)).collect();
    names.sort_unstable();
    let expected = [
        "GRANTED",
        "HOME",
        "LANG",
        "LC_ALL",
        "PATH",
        "PYTHONPYCACHEPREFIX",
        "TMPDIR",
        "TZ",
        "UNDERSTUDY_CALL_ID",
        "UNDERSTUDY_DATA_DIR",
        "UNDERSTUDY_PLUGIN_DIR",
    ];
    assert_eq!(names, expected);
    let home = b.dir.path().join("data/plugins/games+dice");
    assert!(text(&result).contains(&format!("\nHOME={}\n", home.display())) || text(&result).starts_with("HOME="));
    assert!(!text(&result).contains("/elsewhere"));
    assert_eq!(fs::metadata(&home).unwrap().permissions().mode() & 0o777, 0o700);
    assert!(home.join("tmp").is_dir() && home.join("pycache").is_dir());
}

#[tokio::test]
async fn working_directories_and_artifact_paths() {
    let b = Bench::new();
    for (cwd, dir) in [(RunCwd::Tool, "tool"), (RunCwd::Plugin, ""), (RunCwd::Workspace, "ws")] {
        let mut spec = b.spec(&["pwd"]);
        spec.cwd = cwd;
        let result = bind(spec, Arc::clone(&b.pool)).call(Map::new(), &b.cx(30.0)).await;
        let expected = fs::canonicalize(b.dir.path().join(dir)).unwrap();
        assert_eq!(Path::new(text(&result).trim_end()), expected);
    }
    let kept = b.sh(r#"echo '{"artifact": "out.txt"}'"#).await;
    assert_eq!(kept.artifact.unwrap().path, b.tool_dir().join("out.txt").to_string_lossy());
}

#[tokio::test]
async fn a_program_without_end_is_stopped_with_its_group() {
    let b = Bench::new();
    b.script(
        "main.sh",
        "trap '' TERM\nsleep 600 &\necho $! > ../ws/pids; echo $$ >> ../ws/pids; while :; do sleep 600; done",
    );
    let start = SystemClock::new();
    let result = bind(b.spec(&["main.sh"]), Arc::clone(&b.pool)).call(Map::new(), &b.cx(0.3)).await;
    assert_eq!(error(&result).code, "TOOL_TIMEOUT");
    assert!(error(&result).retryable);
    assert!(start.monotonic() < Duration::from_secs(5));
    let pids = fs::read_to_string(b.dir.path().join("ws/pids")).unwrap();
    for pid in pids.lines() {
        let pid = pid.to_string();
        eventually("the group ends", || !alive(&pid)).await;
    }
    assert_eq!((b.listed(), b.tasks.count()), (0, 0));
}

#[tokio::test]
async fn a_grandchild_that_keeps_the_output_does_not_hold_the_call() {
    let b = Bench::new();
    let start = SystemClock::new();
    let result = b.sh("sleep 600 &\necho $! >&2\nprintf quick").await;
    assert_eq!(text(&result), "quick");
    let pid = result.metadata["stderr"].as_str().unwrap().to_string();
    eventually("the grandchild ends", || !alive(&pid)).await;
    // One that has left the group holds only its own pipe.
    let escaped = b.sh("setsid sleep 3 &\nprintf quick").await;
    assert_eq!(text(&escaped), "quick");
    assert!(start.monotonic() < Duration::from_secs(10));
}

#[tokio::test]
async fn cancelling_ends_the_program() {
    let b = Bench::new();
    b.script("main.sh", "echo $$ > ../ws/pid; exec sleep 600");
    let cx = b.cx(60.0);
    let signal = cx.cancellation.clone();
    let tool = bind(b.spec(&["main.sh"]), Arc::clone(&b.pool));
    let pid_file = b.dir.path().join("ws/pid");
    let (result, ()) = tokio::join!(tool.call(Map::new(), &cx), async {
        eventually("it runs", || fs::read_to_string(&pid_file).is_ok_and(|p| p.ends_with('\n'))).await;
        eventually("it is listed", || b.listed() == 1).await;
        signal.request();
    });
    assert_eq!(error(&result).code, "CANCELLED");
    assert!(!alive(&fs::read_to_string(&pid_file).unwrap()));
    assert_eq!(b.listed(), 0);

    let before = CancellationSignal::new();
    before.request();
    let mut cx = b.cx(60.0);
    cx.cancellation = before;
    assert_eq!(error(&tool.call(Map::new(), &cx).await).code, "CANCELLED");
}

#[tokio::test]
async fn dropping_the_call_ends_the_program() {
    let b = Bench::new();
    b.script("main.sh", "echo $$ > ../ws/pid; exec sleep 600");
    let tool = bind(b.spec(&["main.sh"]), Arc::clone(&b.pool));
    let pid_file = b.dir.path().join("ws/pid");
    let cx = b.cx(60.0);
    {
        let call = tool.call(Map::new(), &cx);
        tokio::pin!(call);
        tokio::select! {
            _ = &mut call => panic!("it ended"),
            () = eventually("it runs", || fs::read_to_string(&pid_file).is_ok_and(|p| p.ends_with('\n'))) => {}
        }
    }
    eventually("the task ends", || b.tasks.count() == 0).await;
    assert!(!alive(&fs::read_to_string(&pid_file).unwrap()));
    assert_eq!(b.listed(), 0);
}

#[tokio::test]
async fn a_script_deleted_while_it_runs_still_answers() {
    let b = Bench::new();
    let path = b.script("main.sh", "rm -- \"$0\"; printf still");
    assert_eq!(text(&b.argv(&["./main.sh"]).await), "still");
    assert!(!path.exists());
    assert_eq!(error(&b.argv(&["./main.sh"]).await).code, "COMMAND_FAILED");
}

#[tokio::test]
async fn waiting_for_a_place_counts_and_says_so() {
    let b = Bench::with_places(1);
    b.script("slow.sh", "touch ../ws/runs; exec sleep 600");
    let tool = bind(b.spec(&["slow.sh"]), Arc::clone(&b.pool));
    let holder = b.cx(60.0);
    let waiting = b.cx(0.2);
    let runs = b.dir.path().join("ws/runs");
    let (first, second) = tokio::join!(tool.call(Map::new(), &holder), async {
        eventually("the first runs", || runs.exists()).await;
        let second = tool.call(Map::new(), &waiting).await;
        holder.cancellation.request();
        second
    });
    assert_eq!(error(&first).code, "CANCELLED");
    assert_eq!(error(&second).code, "TOOL_TIMEOUT");
    assert_eq!(error(&second).message, "waited 0.2 s for one of 1 command places; nothing ran");
    b.pool.set_parallel(2);
    assert_eq!(text(&b.sh("printf free").await), "free");
}

/// Programs written right before they run, while other threads fork: each is open for writing in some child
/// for a moment.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fresh_programs_never_fail_as_busy() {
    let b = Arc::new(Bench::new());
    let fds = || fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    b.sh("printf warm").await;
    let before = fds();
    let mut running = tokio::task::JoinSet::new();
    for i in 0..500 {
        let b = Arc::clone(&b);
        running.spawn(async move {
            let name = format!("p{i}.sh");
            b.script(&name, &format!("printf {i}"));
            let result = b.argv(&[&format!("./{name}")]).await;
            assert_eq!(text(&result), i.to_string(), "{result:?}");
        });
    }
    while let Some(done) = running.join_next().await {
        done.unwrap();
    }
    assert_eq!((b.listed(), b.tasks.count()), (0, 0));
    // Other tests of this process open files too; 500 leaked pipes would show all the same.
    assert!(fds() < before + 200, "{} descriptors, {before} before", fds());
}

#[test]
fn programs_are_checked_before_publishing() {
    let b = Bench::new();
    b.script("ok.sh", ":");
    let doc = crate::config::doc::Doc::parse_toml("tool", "tools/x/tool.toml", "[run]\ncommand = [\"x\"]\n").unwrap();
    let place = crate::loader::Place { owner: OwnerPath::root(), item: "tool x".into(), doc: Arc::new(doc) };
    let check = |word: &str, optional, lenient| {
        let argv = [word.to_string()];
        let tool_dir = b.tool_dir();
        check_program(&ProgramCheck {
            may_be_optional: true,
            argv: &argv,
            tool_dir: &tool_dir,
            path: "/bin:/usr/bin",
            optional,
            lenient,
            place: &place,
        })
    };
    assert!(check("sh", false, false).is_empty() && check("ok.sh", false, false).is_empty());
    let missing = &check("no-such-program", false, false)[0];
    assert_eq!((missing.code.as_str(), missing.is_error(), missing.line), ("run::program-missing", true, Some(2)));
    assert!(missing.message.contains("no-such-program") && missing.message.contains("/bin:/usr/bin"));
    assert!(!check("no-such-program", true, false)[0].is_error());
    assert!(!check("no-such-program", false, true)[0].is_error());
    // Files of the plugin are the loader's to judge; it knows them before they are copied.
    assert!(check("./none.sh", false, false).is_empty());
}

proptest::proptest! {
    /// Whatever a program prints is a result or `INVALID_RESULT`.
    #[test]
    fn any_output_is_read_or_refused(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..80)) {
        match output::parse(&bytes) {
            Ok(_) => proptest::prop_assert!(std::str::from_utf8(&bytes).is_ok()),
            Err(e) => proptest::prop_assert_eq!(e.code(), "INVALID_RESULT"),
        }
    }

    /// An object without keys of a result is data, whole.
    #[test]
    fn any_other_object_is_data(key in "[a-z]{1,3}", n in proptest::num::i64::ANY) {
        let result = output::parse(format!(" {{\"{key}\": {n}}}\n").as_bytes()).unwrap();
        proptest::prop_assert_eq!(result.data.get(&key), Some(&json!(n)));
    }
}
