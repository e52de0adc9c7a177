//! Asks `lock-counting`, which counts allocations.

use std::process::Stdio;

use crate::program::Program;

/// The numbers in its answer.
pub(crate) fn ask<const N: usize>(args: &[&str]) -> [f64; N] {
    let mut program = Program::COUNTING.command();
    let output = program.args(args).stderr(Stdio::inherit()).output();
    let output = output.expect("it was built");
    assert!(output.status.success(), "lock-counting {args:?} failed");
    let answer = String::from_utf8(output.stdout).expect("it is text");
    let numbers: Result<Vec<f64>, _> = answer.split_whitespace().map(str::parse).collect();
    let numbers = numbers.expect("they are numbers");
    numbers.try_into().expect("there are so many")
}
