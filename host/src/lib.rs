//! The Understudy host as a library: the rooms in order. A room may use only rooms above it;
//! `tests/layers` reads the order from this file.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests may read the real time and environment"))]

pub mod task;
pub mod store;
pub mod journal;
pub mod config;
pub mod net;
pub mod loader;
pub mod admission;
pub mod index;
pub mod runtime;
pub mod endpoint;
pub mod candidate;
pub mod generation;
pub mod reload;
pub mod session;
pub mod route;
pub mod catalog;
pub mod prompt;
pub mod model;
pub mod exec;
// room 20, `jobs`, comes with schedules
pub mod tools;
pub mod turn;
pub mod render;
pub mod outbound;
pub mod commands;
pub mod ingress;
pub mod admin;
pub mod scenario;
pub mod app;
