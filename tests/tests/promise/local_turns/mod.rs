//! A lease is handed over from one caller of a client to the next without a command, within its limits.

mod commands;
mod fairness;
mod lease;
mod line;
mod unpolled;
