//! The program from outside: real processes, temporary bot folders, no network.

mod answering;
mod contract;
mod live;
mod looking;
mod scenarios;
mod usage;
mod writing;
