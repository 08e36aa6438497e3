//! Long results, files of tools, clean-up.

use super::*;
use plugin_sdk::{ContentBlock, ImageData, PreviewMode};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

fn says(text: String) -> Body {
    body(move |_, _| {
        let text = text.clone();
        async move { ToolResult::text(text) }
    })
}

fn image() -> ContentBlock {
    ContentBlock::Image { image: ImageData { mime: "image/png".into(), data: "AAAA".into() } }
}

fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { out.extend(files_below(&path)) } else { out.push(path) }
    }
    out
}

#[test]
fn previews_are_cut_on_characters() {
    let letters = "abcdefghijklmnopqrstuvwxyz";
    assert_eq!(preview(letters, 17, PreviewMode::HeadTail), "abcde\n[...]\nvwxyz");
    assert_eq!(preview(letters, 18, PreviewMode::HeadTail), "abcdef\n[...]\nvwxyz");
    assert_eq!(preview(letters, 26, PreviewMode::HeadTail), letters);
    assert_eq!(preview(letters, 7, PreviewMode::HeadTail), "abcdefg");
    assert_eq!(preview(letters, 3, PreviewMode::Head), "abc");
    assert_eq!(preview("日本語テキスト", 3, PreviewMode::Head), "日本語");
    assert_eq!(preview("", 0, PreviewMode::HeadTail), "");
}

#[tokio::test]
async fn fifty_thousand_characters_are_kept_one_more_is_saved() {
    let w =
        World::new().tool("fits", reads(), says("é".repeat(50_000))).tool("long", reads(), says("é".repeat(50_001)));
    let fits = w.call("fits", json!({})).await;
    assert_eq!((fits.model_content().chars().count(), fits.artifact.is_none()), (50_000, true));
    let long = w.call("long", json!({})).await;
    let artifact = long.artifact.clone().unwrap();
    let text = long.model_content();
    assert!(text.starts_with(&"é".repeat(8000)) && !text.starts_with(&"é".repeat(8001)));
    let name = Path::new(&artifact.path).file_name().unwrap().to_str().unwrap();
    assert!(text.contains("50001 characters") && text.contains(&format!(".artifacts/{name}")), "{}", &text[16_000..]);
    assert_eq!(fs::read_to_string(&artifact.path).unwrap().chars().count(), 50_001);
    assert_eq!((artifact.mime_type.as_str(), artifact.size_bytes), ("text/plain", 100_002));
    // c-<16 hex of the call id>-<32 hex>.txt in the folder of the session.
    let folder = Path::new(&artifact.path).parent().unwrap();
    assert_eq!(folder, w.dir.path().join("artifacts").join(ToolArtifactStore::folder_of("telegram/main/group/-100")));
    let parts: Vec<&str> = name.strip_suffix(".txt").unwrap().split('-').collect();
    assert_eq!((parts[0], parts[1].len(), parts[2].len()), ("c", 16, 32));
    let again = w.call("long", json!({})).await.artifact.unwrap();
    assert_ne!(again.path, artifact.path);
}

#[tokio::test]
async fn preview_and_notice_fit_together() {
    for max in [100, 150, 300, 1000] {
        let mut def = reads();
        def.options.max_result_chars = Some(max);
        def.options.preview_mode = Some(PreviewMode::HeadTail);
        let long = format!("begin{}end", "x".repeat(5000));
        let failing = body({
            let long = long.clone();
            move |_, _| {
                let e = ToolError::new("NO_LUCK", long.clone());
                async { ToolResult::error(e) }
            }
        });
        let mut w = World::new().tool("t", def.clone(), says(long)).tool("e", def, failing);
        w.bot.tools.preview_chars = 900;
        for name in ["t", "e"] {
            let result = w.call(name, json!({})).await;
            let text = result.model_content();
            assert!(text.chars().count() <= max, "{name} {max}: {}", text.chars().count());
            assert!(text.contains(".artifacts/c-"), "{text}");
            if max >= 1000 {
                assert!(text.contains("begin") && text.contains("\n[...]\n") && text.contains("end"));
            }
            assert!(fs::read_to_string(result.artifact.unwrap().path).unwrap().starts_with("begin"));
        }
    }
}

#[tokio::test]
async fn images_all_stay() {
    let mut def = reads();
    def.options.max_result_chars = Some(200);
    let w = World::new().tool(
        "t",
        def,
        body(|_, _| async {
            let content =
                vec![ContentBlock::text("a".repeat(150)), image(), ContentBlock::text("b".repeat(150)), image()];
            ToolResult { content, ..ToolResult::empty() }
        }),
    );
    let result = w.call("t", json!({})).await;
    let blocks = result.model_blocks();
    assert_eq!(blocks.len(), 3);
    assert!(matches!(blocks[0], ContentBlock::Text { .. }) && blocks[1] == image() && blocks[2] == image());
    let saved = fs::read_to_string(result.artifact.unwrap().path).unwrap();
    assert_eq!(saved, format!("{}\n{}", "a".repeat(150), "b".repeat(150)));
}

#[tokio::test]
async fn more_than_eight_mebibytes_are_not_looked_at() {
    let w = World::new().tool("big", reads(), says("x".repeat(8 * 1024 * 1024 + 1))).tool(
        "two",
        reads(),
        says("x".repeat(2_000_000)),
    );
    assert_eq!(code(&w.call("big", json!({})).await), "RESULT_TOO_LARGE");
    assert!(w.call("two", json!({})).await.artifact.is_some());
    assert_eq!(files_below(&w.dir.path().join("artifacts")).len(), 1);
}

fn hands_out(path: String) -> Body {
    body(move |_, _| {
        let path = path.clone();
        async move {
            let artifact = plugin_sdk::ToolArtifact {
                path,
                mime_type: "text/plain".into(),
                size_bytes: 0,
                preview: String::new(),
                text_path: None,
            };
            ToolResult { artifact: Some(artifact), ..ToolResult::text("made a file") }
        }
    })
}

#[tokio::test]
async fn files_of_tools_are_copied_from_their_folders_only() {
    let mut w = World::new();
    let root = w.dir.path().to_path_buf();
    let own = root.join("plugins/maps");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("plot.png"), b"png").unwrap();
    fs::write(root.join("ws/report.csv"), b"a,b").unwrap();
    fs::write(root.join("host.key"), b"no").unwrap();
    std::os::unix::fs::symlink(root.join("host.key"), root.join("ws/link")).unwrap();
    let paths = [
        ("own", own.join("plot.png").display().to_string()),
        ("relative", "report.csv".into()),
        ("outside", root.join("host.key").display().to_string()),
        ("up", "../host.key".into()),
        ("link", "link".into()),
        ("absent", "nothing.txt".into()),
        ("folder", own.display().to_string()),
    ];
    for (name, path) in paths {
        w = w.owned("maps", name, reads(), hands_out(path));
    }
    let own = w.call("maps__own", json!({})).await.artifact.unwrap();
    assert_eq!((own.mime_type.as_str(), own.size_bytes), ("image/png", 3));
    assert!(own.path.ends_with(".png") && fs::read(&own.path).unwrap() == b"png");
    assert_eq!(w.call("maps__relative", json!({})).await.artifact.unwrap().mime_type, "text/csv");
    for name in ["outside", "up", "link", "absent", "folder"] {
        let result = w.call(&format!("maps__{name}"), json!({})).await;
        assert_eq!(code(&result), "ARTIFACT_ERROR", "{name}");
        assert!(!result.model_content().contains(&root.display().to_string()));
    }
    assert_eq!(files_below(&root.join("artifacts")).len(), 2);
}

#[tokio::test]
async fn what_cannot_be_saved_leaves_no_part() {
    let w = World::new().tool("w", writes(), says("x".repeat(60_000)));
    let executor = w.turn();
    fs::write(w.dir.path().join("artifacts"), b"in the way").unwrap();
    let result = executor.execute_one(ToolUse::new("c1", "w", json!({})), &w.cx, None).await;
    assert_eq!(code(&result), "ARTIFACT_ERROR");
    let finished = w.events().await.pop().unwrap();
    assert_eq!((finished.0.as_str(), &finished.1["body"]), ("tool.finished", &json!("success")));
}

#[tokio::test]
async fn whole_values_are_strict_json() {
    let dir = tempfile::tempdir().unwrap();
    let store = ToolArtifactStore::new(dir.path()).preview_chars(10);
    let kept = store.persist_json("c1", &json!({"a": [1, null]}), "one value").await.unwrap();
    assert!(kept.path.ends_with(".mcp.json"));
    assert_eq!(fs::read_to_string(&kept.path).unwrap(), r#"{"a":[1,null]}"#);
    assert_eq!((kept.mime_type.as_str(), kept.preview.as_str()), ("application/json", "one value"));
    let mut result = ToolResult::text("y".repeat(300));
    result.tool_use_id = "c1".into();
    result.artifact = Some(kept.clone());
    let result = store.persist_if_large(result, 200).await.unwrap();
    let both = result.artifact.unwrap();
    assert_eq!(both.path, kept.path);
    assert!(both.text_path.unwrap().ends_with(".model.txt"));
}

#[tokio::test]
async fn old_artifacts_leave_and_running_turns_keep_theirs() {
    let w = World::new().tool("t", reads(), says("x".repeat(600_000)));
    let files = || files_below(&w.dir.path().join("artifacts")).len();
    for _ in 0..4 {
        w.call("t", json!({})).await;
        w.clock.advance(Duration::from_secs(86_400));
    }
    let sweep = async |days, mb, running: &[&str]| {
        let running: HashSet<String> = running.iter().map(|s| s.to_string()).collect();
        sweep_artifacts(w.dir.path(), &w.store, &w.clock.shared(), (days, mb), &running).await.unwrap()
    };
    assert_eq!(sweep(30, 1024, &[]).await, Swept { removed: 0, removed_bytes: 0, kept_bytes: 2_400_000 });
    assert_eq!(sweep(1, 1, &["t1"]).await.removed, 0);
    assert_eq!(sweep(3, 1024, &[]).await.removed, 1);
    assert_eq!(sweep(30, 1, &[]).await, Swept { removed: 2, removed_bytes: 1_200_000, kept_bytes: 600_000 });
    assert_eq!(files(), 1);
    assert_eq!(sweep(30, 1, &[]).await.kept_bytes, 600_000);
}

#[tokio::test]
async fn a_file_that_no_longer_fits_asks_for_a_clean_up() {
    let w = World::new().tool("t", reads(), says("x".repeat(600_000)));
    w.call("t", json!({})).await;
    assert!(futures::future::poll_immediate(w.room.over()).await.is_none(), "the room is not known yet");
    w.room.set(600_000, 1_048_576);
    w.call("t", json!({})).await;
    futures::future::poll_immediate(w.room.over()).await.unwrap();
    w.room.set(0, 1_048_576);
    w.call("t", json!({})).await;
    assert!(futures::future::poll_immediate(w.room.over()).await.is_none());
}
