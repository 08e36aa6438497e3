//! A bot made with serenity lives on the fake as it would on Discord.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod bot;
mod faults;
mod limiter;
mod shapes;
mod talk;
