use super::support::{DIALECTS, discord, fit, shown, split, telegram};
use crate::render::{Document, Draft, Fit};
use plugin_sdk::{AdapterLimits, Dialect, TextUnit};

fn joined(source: &str, fit: Fit) -> String {
    let split = split(source, fit);
    assert!(split.file.is_none());
    split.pieces.iter().map(|p| p.rich.text.as_str()).collect()
}

#[test]
fn five_thousand_emoji_are_cut_between_emoji() {
    let text = "😀".repeat(5000);
    assert_eq!(joined(&text, telegram()), text);
    assert_eq!(split(&text, telegram()).pieces.len(), 3);
    let family = "👨‍👩‍👧‍👦".repeat(700);
    for piece in split(&family, telegram()).pieces {
        assert!(piece.rich.text.len().is_multiple_of("👨‍👩‍👧‍👦".len()), "a family was parted");
    }
}

#[test]
fn a_hat_that_does_not_fit_goes_to_the_next_piece() {
    let text = format!("{}🎩", "a".repeat(4095));
    let pieces = split(&text, telegram()).pieces;
    assert_eq!((pieces.len(), pieces[1].rich.text.as_str()), (2, "🎩"));
}

#[test]
fn a_long_block_of_code_is_closed_and_opened_again() {
    let lines: Vec<String> = (0..300).map(|i| format!("    let line_{i} = call(\"*{i}*\"); // `x`")).collect();
    let code = lines.join("\n");
    let pieces = split(&format!("before\n\n```rust\n{code}\n```\n\nafter"), Fit { max_pieces: 20, ..discord() }).pieces;
    assert!(pieces.len() > 5);
    let mut seen = Vec::new();
    for (i, piece) in pieces.iter().enumerate() {
        let text = &piece.rich.text;
        assert!(i == 0 || text.starts_with("```rust\n    let line_"), "{text}");
        seen.extend(text.lines().filter(|l| l.contains("line_")).map(str::to_string));
    }
    assert_eq!(seen, lines);
}

#[test]
fn a_full_fence_and_a_long_info_string_finish_without_an_empty_piece() {
    for (source, letters) in [
        (format!("```\n{}\n```", "x".repeat(1998)), 1998),
        (format!("```{}\nx\n```", "i".repeat(1900)), 1901),
        (format!("```{}\n{}\n```", "i".repeat(40), "x\n".repeat(2500)), 2540),
        (format!("```{}\n```", "i".repeat(1900)), 1900),
    ] {
        let pieces = split(&source, discord()).pieces;
        let text: String = pieces.iter().map(|p| p.rich.text.as_str()).collect();
        assert_eq!(text.chars().filter(|c| matches!(c, 'x' | 'i')).count(), letters);
        split(&source, telegram());
    }
    let pieces = split(&format!("```{}\n{}\n```", "i".repeat(40), "x\n".repeat(2500)), discord()).pieces;
    assert!(pieces[0].rich.text.starts_with("```iii") && pieces[1].rich.text.starts_with("```\nx"));
}

#[test]
fn blank_code_makes_no_blank_piece() {
    let text = format!("a\n\n```\n{}b\n```", "\n".repeat(9000));
    for dialect in DIALECTS {
        split(&text, Fit { max_pieces: 100, ..fit(dialect, 2000) });
    }
}

#[test]
fn a_cut_prefers_blank_lines_then_lines_then_sentences_then_spaces() {
    let cut = |text: &str| split(text, fit(Dialect::Plain, 100)).pieces[0].rich.text.clone();
    let w = |n: usize| "w".repeat(n);
    assert_eq!(cut(&format!("{}\n\n{}\n{}. {} {}", w(60), w(10), w(8), w(9), w(90))), w(60));
    assert_eq!(cut(&format!("{}\n{}. {} {}", w(60), w(8), w(9), w(90))), w(60));
    assert_eq!(cut(&format!("{}. {} {}", w(60), w(9), w(90))), format!("{}.", w(60)));
    assert_eq!(cut(&format!("{} {} {}", w(60), w(9), w(90))), format!("{} {}", w(60), w(9)));
    assert_eq!(cut(&format!("{}\n\n{}", w(30), w(200))).len(), 100, "a cut in the first half is not used");
}

#[test]
fn a_span_that_is_cut_is_opened_again_and_a_link_is_not_cut() {
    let text = format!("**{}**", "bold words ".repeat(300).trim());
    let pieces = split(&text, discord()).pieces;
    assert!(pieces.len() == 2 && pieces.iter().all(|p| p.rich.text.starts_with("**") && p.rich.text.ends_with("**")));
    let text = format!("{} [two words](https://a.example/{})", "w ".repeat(950), "u".repeat(80));
    let pieces = split(&text, discord()).pieces;
    assert!(pieces[1].rich.text.starts_with("[two words](https://a.example/uuu"), "{pieces:?}");
    let text = format!("[{}](https://a.example)", "w ".repeat(1500).trim());
    let pieces = split(&text, discord()).pieces;
    assert!(pieces.iter().all(|p| !p.rich.text.contains("](")), "a link longer than a piece is text");
    assert!(pieces[1].rich.text.ends_with("(https://a.example)"));
}

#[test]
fn a_backtick_at_a_cut_does_not_join_the_marks_of_its_code() {
    let text = format!("{} ``word `{}``", "w".repeat(45), "x".repeat(50));
    let pieces = split(&text, fit(Dialect::DiscordMarkdown, 64)).pieces;
    assert!(pieces.iter().any(|p| p.rich.text.starts_with("`` `x")), "{pieces:?}");
}

#[test]
fn a_character_longer_than_a_piece_is_cut_between_scalars() {
    let zalgo = format!("a{}", "\u{301}".repeat(9000));
    assert_eq!(joined(&zalgo, telegram()), zalgo);
}

#[test]
fn entities_are_counted() {
    let text = "**a** b ".repeat(350);
    let pieces = split(&text, telegram()).pieces;
    assert_eq!(pieces.iter().map(|p| p.rich.entities.len()).sum::<usize>(), 350);
    assert_eq!(pieces.len(), 4);
}

#[test]
fn too_many_pieces_become_nine_and_a_file() {
    let text = "A sentence with **bold** words. ".repeat(1500);
    let whole = split(&text, telegram());
    assert_eq!((whole.pieces.len(), whole.file), (9, Some(Document::parse(&text).pieces(&telegram()).file.unwrap())));
    let file = Document::parse(&text).pieces(&telegram()).file.unwrap();
    assert_eq!((file.name, file.text.as_str()), ("answer.md", text.as_str()));
    assert!(split(&"w ".repeat(18_000), telegram()).file.is_none());
}

#[test]
fn a_platform_that_calls_a_piece_too_long_gets_nine_tenths() {
    let limits = AdapterLimits { entities_max: 100, ..AdapterLimits::text(4096, TextUnit::Utf16) };
    let fit = Fit::message(Dialect::Entities, &limits, 10).tightened();
    assert_eq!((fit.limit, fit.tightened().limit), (3686, 3317));
    split(&"w ".repeat(9000), fit);
    let caption = Fit::caption(Dialect::Entities, &AdapterLimits { caption_max: 1024, ..limits }, 10);
    assert!(split(&"w ".repeat(900), caption).pieces.len() == 2);
}

#[test]
fn deep_nesting_and_long_runs_cost_no_more_than_their_length() {
    let n = 5_000;
    let texts = [
        format!("{}a\n{}", ">".repeat(n), "b\n".repeat(n)),
        format!("{}a", "- ".repeat(n)),
        format!("{}a", "*a ".repeat(n)),
        "[".repeat(n),
        format!("{}a{}", "![".repeat(n), "](u)".repeat(n)),
        "`".repeat(n),
        format!("a{}b", " ".repeat(n)),
        format!("|{}\n|{}\n{}", "a|".repeat(200), "-|".repeat(200), "|b\n".repeat(200)),
    ];
    for text in texts {
        for dialect in DIALECTS {
            let shown = shown(&text, dialect);
            assert!(shown.len() <= 80 * text.len(), "{} bytes of {}", shown.len(), text.len());
            Document::parse(&text).pieces(&fit(dialect, 2000));
        }
        let mut draft = Draft::new(telegram());
        draft.push(&text);
        draft.show();
    }
}

/// Answers as models write them: headings, fences, tables, nested lists, emoji, right to left, combining characters.
fn answer(length: usize) -> String {
    let blocks = [
        "## Ein Überblick 🎩\n\nSome **bold *and italic* words** with `code`, a [link](https://a.example/p?q=1_2) and \
         ~~old~~ text. Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich.",
        "- one\n  - two with **marks**\n    1. three\n    2. four 👨‍👩‍👧‍👦🇩🇪\n  - [x] done\n- [ ] open\n\n  more of it",
        "```python\ndef f(x):\n    # *not* a `mark`\n    return {\"a\": [x ** 2, x]}\n\n\nprint(f(3))\n```",
        "| name | value |\n|---|---:|\n| a | 1 |\n| b_c | 2 |\n| ثلاثة | 3 |",
        "| a long name of a column | another long name of a column | and a third one |\n|---|---|---|\n| 1 | 2 | 3 |",
        "> שלום עולם, זה טקסט **מימין** לשמאל.\n> مرحبا بالعالم",
        "e\u{301}a\u{308}o\u{302} Z\u{351}\u{36f}\u{300}algo 한국어 日本語の文章です。次の文。नमस्ते दुनिया।",
        "1. first\n2. second\n   ```sh\n   ls -la | grep x\n   ```\n3. third",
    ];
    let mut text = String::new();
    for block in blocks.iter().cycle() {
        text.push_str(block);
        text.push_str("\n\n");
        if text.chars().count() >= length {
            break;
        }
    }
    text
}

#[test]
fn long_answers_arrive_whole_on_every_channel() {
    for length in [3900, 4096, 5000, 8000, 13_000] {
        let text = answer(length);
        for base in [telegram(), discord(), fit(Dialect::Markdown, 2000), fit(Dialect::Plain, 3000)] {
            let pieces = split(&text, Fit { max_pieces: 40, ..base }).pieces;
            assert!(pieces.len() > 1 || length < 8000, "{length} characters: {base:?}");
            let words = ["Viktor", "print(f(3))", "ثلاثة", "third", "次の文", "שלום"];
            let shown: String = pieces.iter().map(|p| p.rich.text.as_str()).collect();
            for word in words {
                let count = |t: &str| t.matches(word).count();
                assert_eq!(count(&shown), count(&text), "{word} in {length} characters");
            }
        }
    }
}

/// Prints what `docs/benches.md` would hold; the bar is wide, because a debug build on a busy machine runs it.
#[test]
fn a_long_answer_is_split_fast() {
    let text = answer(13_000);
    let start = std::time::Instant::now();
    let rounds = 20;
    for _ in 0..rounds {
        assert!(!Document::parse(&text).pieces(&telegram()).pieces.is_empty());
    }
    let each = start.elapsed() / rounds;
    println!("13,000 characters rendered and split in {each:?}");
    assert!(each < std::time::Duration::from_millis(500), "{each:?}");
}
