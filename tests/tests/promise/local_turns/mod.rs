//! A lease passes from one caller of a client to the next without a command, within its limits.

mod commands;
mod crash;
mod endings;
mod fairness;
mod lease;
mod line;
mod unpolled;
