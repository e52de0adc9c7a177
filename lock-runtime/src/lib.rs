//! Locks shared by every machine.
