//! `parse_mode` MarkdownV2.

use super::{Formatted, Growing, language};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Bold,
    Italic,
    Underline,
    Strikethrough,
    Spoiler,
    Link,
    Emoji,
    Code,
    Pre,
    Quote,
}

struct Open {
    mark: Mark,
    from: usize,
    at: usize,
    language: String,
}

impl Open {
    fn lost(&self) -> String {
        let name = match self.mark {
            Mark::Link => "TextUrl".into(),
            Mark::Emoji => "CustomEmoji".into(),
            Mark::Quote => "BlockQuote".into(),
            Mark::Pre if !self.language.is_empty() => "PreCode".into(),
            mark => format!("{mark:?}"),
        };
        format!("Can't find end of {name} entity at byte offset {}", self.at)
    }
}

struct Reader<'a> {
    source: &'a str,
    at: usize,
    out: Growing,
    open: Vec<Open>,
}

const RESERVED: &str = "_*[]()~`>#+-=|{}.!";

/// Parses a text; the error says what is wrong and where.
pub(super) fn parse(source: &str) -> Result<Formatted, String> {
    let mut reader = Reader { source, at: 0, out: Growing::default(), open: Vec::new() };
    while let Some(c) = reader.rest().chars().next() {
        reader.step(c)?;
    }
    if reader.top() == Some(Mark::Quote) {
        reader.pop("blockquote");
    }
    match reader.open.last() {
        Some(open) => Err(open.lost()),
        None => Ok(reader.out.done()),
    }
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn top(&self) -> Option<Mark> {
        self.open.last().map(|open| open.mark)
    }

    fn is_open(&self, mark: Mark) -> bool {
        self.open.iter().any(|open| open.mark == mark)
    }

    fn step(&mut self, c: char) -> Result<(), String> {
        let mut after = self.rest().chars();
        after.next();
        if c == '\\'
            && let Some(next) = after.next().filter(char::is_ascii)
        {
            self.out.push(next);
            self.at += 2;
            return Ok(());
        }
        if matches!(self.top(), Some(Mark::Code | Mark::Pre)) {
            return self.inside_code(c);
        }
        if c == '\n' {
            return self.line_end();
        }
        if !RESERVED.contains(c) {
            self.out.push(c);
            self.at += c.len_utf8();
            return Ok(());
        }
        self.mark(c)
    }

    fn inside_code(&mut self, c: char) -> Result<(), String> {
        let pre = self.top() == Some(Mark::Pre);
        if pre && self.rest().starts_with("```") {
            let language = self.open.last().map(|o| o.language.clone()).unwrap_or_default();
            let from = self.open.pop().map_or(0, |o| o.from);
            let more = (!language.is_empty()).then(|| ("language", language.into()));
            self.out.entity("pre", from, more.as_slice());
            self.at += 3;
        } else if !pre && c == '`' {
            self.pop("code");
            self.at += 1;
        } else if pre && c == '`' {
            self.push(Mark::Code, 1);
        } else {
            self.out.push(c);
            self.at += c.len_utf8();
        }
        Ok(())
    }

    fn line_end(&mut self) -> Result<(), String> {
        let goes_on = self.rest().starts_with("\n>");
        if self.is_open(Mark::Quote) && !goes_on {
            if self.top() != Some(Mark::Quote) {
                return Err(self.open.last().map(Open::lost).unwrap_or_default());
            }
            self.out.push('\n');
            self.pop("blockquote");
            self.at += 1;
            return Ok(());
        }
        self.out.push('\n');
        self.at += 1;
        if goes_on && self.is_open(Mark::Quote) {
            self.at += 1;
        }
        Ok(())
    }

    fn reserved(&self, c: char) -> String {
        format!("Character '{c}' is reserved and must be escaped with the preceding '\\'")
    }

    fn push(&mut self, mark: Mark, length: usize) {
        self.open.push(Open { mark, from: self.out.units, at: self.at, language: String::new() });
        self.at += length;
    }

    fn pop(&mut self, kind: &str) {
        let from = self.open.pop().map_or(0, |o| o.from);
        self.out.entity(kind, from, &[]);
    }

    /// A mark that closes when it is the innermost open one, else opens.
    fn toggle(&mut self, mark: Mark, kind: &str, length: usize) -> Result<(), String> {
        if self.top() == Some(mark) {
            self.pop(kind);
            self.at += length;
            return Ok(());
        }
        self.push(mark, length);
        Ok(())
    }

    fn mark(&mut self, c: char) -> Result<(), String> {
        let rest = self.rest();
        let before = |n: usize| self.at.checked_sub(n).and_then(|at| self.source.as_bytes().get(at)).copied();
        let line_start = matches!(before(1), None | Some(b'\n'));
        match c {
            '_' if rest.starts_with("__") => self.toggle(Mark::Underline, "underline", 2),
            '_' => self.toggle(Mark::Italic, "italic", 1),
            '*' => self.toggle(Mark::Bold, "bold", 1),
            '~' => self.toggle(Mark::Strikethrough, "strikethrough", 1),
            '|' if rest.starts_with("||") => {
                let last = rest.get(2..).is_none_or(|tail| tail.is_empty() || tail.starts_with('\n'));
                if self.top() == Some(Mark::Quote) && last {
                    self.pop("expandable_blockquote");
                    self.at += 2;
                    return Ok(());
                }
                self.toggle(Mark::Spoiler, "spoiler", 2)
            }
            '`' if rest.starts_with("```") => self.fence(),
            '`' => {
                self.push(Mark::Code, 1);
                Ok(())
            }
            '[' => {
                self.push(Mark::Link, 1);
                Ok(())
            }
            '!' if rest.starts_with("![") => {
                self.push(Mark::Emoji, 2);
                Ok(())
            }
            ']' if matches!(self.top(), Some(Mark::Link | Mark::Emoji)) => self.link(),
            '>' if line_start && !self.is_open(Mark::Quote) => {
                self.push(Mark::Quote, 1);
                Ok(())
            }
            // a second mark at the start of a quoted line says nothing more
            '>' if self.is_open(Mark::Quote) && before(1) == Some(b'>') && matches!(before(2), None | Some(b'\n')) => {
                self.at += 1;
                Ok(())
            }
            _ => Err(self.reserved(c)),
        }
    }

    fn fence(&mut self) -> Result<(), String> {
        let at = self.at;
        self.push(Mark::Pre, 3);
        let (language, skip) = language(self.rest());
        let language = language.to_owned();
        self.at += skip;
        if let Some(open) = self.open.last_mut() {
            open.language = language;
            open.at = at;
        }
        Ok(())
    }

    fn link(&mut self) -> Result<(), String> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        self.at += 1;
        let mut url = String::new();
        if self.rest().starts_with('(') {
            let start = self.at;
            self.at += 1;
            loop {
                let mut chars = self.rest().chars();
                match (chars.next(), chars.next()) {
                    (Some('\\'), Some(next)) if next.is_ascii() => {
                        url.push(next);
                        self.at += 2;
                    }
                    (Some(')'), _) => break,
                    (Some(c), _) => {
                        url.push(c);
                        self.at += c.len_utf8();
                    }
                    (None, _) => return Err(format!("Can't find end of a URL at byte offset {start}")),
                }
            }
            self.at += 1;
        } else if open.mark == Mark::Emoji {
            return Err("The entity must contain a tg://emoji or tg://time URL".into());
        } else {
            url = self.out.since(open.from).to_owned();
        }
        match open.mark {
            Mark::Emoji => match url.strip_prefix("tg://emoji?id=") {
                Some(id) => self.out.entity("custom_emoji", open.from, &[("custom_emoji_id", id.into())]),
                None => return Err("Custom emoji URL must have an emoji identifier".into()),
            },
            _ => self.out.link(open.from, &url),
        }
        Ok(())
    }
}
