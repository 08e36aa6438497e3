//! The program from outside: real processes, temporary bot folders, no network.

mod answering;
mod budget;
mod chatting;
mod contract;
mod crashes;
mod deferred;
mod diagnostics;
mod docs;
mod examples;
mod faults;
mod live;
mod live_drain;
mod live_faults;
mod live_life;
mod live_load;
mod live_saves;
mod live_turns;
mod live_watch;
mod looking;
mod openai;
mod people;
mod scenarios;
mod secrets;
mod truth;
mod usage;
mod writing;
