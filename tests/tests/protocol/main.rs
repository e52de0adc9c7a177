//! The commands and answers between a client and a server.
//!
//! | part | folder |
//! |---|---|
//! | the Lua scripts, branch by branch | `scripts` |
//! | how a client reaches a server: TLS, unix sockets, users, topologies | `connections` |
//! | what a client may do on a server, and which records it leaves | `security` |

mod connections;
mod scripts;
mod security;
