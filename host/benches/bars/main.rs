//! The bars of the contract in one table: each row is a measurement and, where there is a bar, its ratio to a
//! probe of the same run. `cargo bench -p host` prints all, `cargo bench -p host -- turn` the rows of one part.

#![expect(clippy::expect_used, clippy::panic, reason = "a bench that cannot start has nothing to report")]
#![expect(clippy::disallowed_methods, reason = "a bench measures with the real clock and spawns its own load")]

mod admission;
mod call;
mod channel;
mod discover;
mod exchange;
mod measure;
mod prepare;
mod process;
mod table;
mod tools;
mod tree;
mod turn;

use table::Table;

/// Measures and prints one part.
type Rows = fn(&mut Table);

fn main() {
    let filter = std::env::args().skip(1).find(|a| !a.starts_with("--"));
    let parts: [(&str, Rows); 7] = [
        ("prepare", prepare::rows),
        ("admission", admission::rows),
        ("discover", discover::rows),
        ("call", call::rows),
        ("turn", turn::rows),
        ("exchange", exchange::rows),
        ("process", process::rows),
    ];
    let mut table = Table::new();
    for (name, rows) in parts {
        if filter.as_deref().is_none_or(|f| name.contains(f)) {
            table.part(name);
            rows(&mut table);
        }
    }
    table.summary();
}
