//! The catalog as the built-in tools show it, and the rules of a question.

mod agreement;
mod loading;
mod question;
mod search;
mod snapshot;
