//! A lease goes from one caller of a client to the next without a command, as far as it may.

mod commands;
mod crash;
mod endings;
mod fairness;
mod lease;
mod line;
mod unpolled;
