//! The program from outside: real processes, temporary bot folders, no network.

mod answering;
mod budget;
mod chatting;
mod contract;
mod deferred;
mod faults;
mod live;
mod looking;
mod openai;
mod people;
mod scenarios;
mod secrets;
mod truth;
mod usage;
mod writing;
