//! What the compiler and clippy report about locked functions, with all lints switched on.

mod long {
    use std::collections::BTreeSet;
    use std::io::Write;
    use std::path::{Path, PathBuf};
    use std::process::Command;
    use std::{fs, io};

    /// Whether the functions of a file have the attribute.
    #[derive(Clone, Copy, Debug)]
    enum Form {
        Plain,
        Locked,
    }

    #[test]
    fn locked_functions_trigger_no_additional_lints() {
        if !has_clippy() {
            return;
        }
        let plain = reports("functions", Form::Plain);
        let locked = reports("functions", Form::Locked);
        assert!(plain.len() > 100, "the lints are on: {plain:#?}");
        let own: Vec<_> = locked.difference(&plain).collect();
        assert!(own.is_empty(), "{own:#?}");
    }

    #[test]
    fn expectations_stay_fulfilled_when_a_function_is_locked() {
        if !has_clippy() {
            return;
        }
        for form in [Form::Plain, Form::Locked] {
            let reports = reports("expectations", form);
            let unfulfilled: Vec<_> = reports
                .iter()
                .filter(|report| report.contains("expectation is unfulfilled"))
                .collect();
            assert!(unfulfilled.is_empty(), "{form:?}: {unfulfilled:#?}");
        }
    }

    fn has_clippy() -> bool {
        let mut asked = Command::new(env!("CARGO"));
        let has = asked.args(["clippy", "--version"]).output();
        let has = has.is_ok_and(|asked| asked.status.success());
        if !has {
            let note = "lints: not tested, since the component clippy is not installed";
            writeln!(io::stderr(), "{note}").expect("stderr is open");
        }
        has
    }

    /// The reports about a file of `lints`: place and message.
    fn reports(file: &str, form: Form) -> BTreeSet<String> {
        let features: &[&str] = match form {
            Form::Plain => &[],
            Form::Locked => &["--features", "locked"],
        };
        let package = package(file);
        let output = Command::new(env!("CARGO"))
            .args([
                "clippy",
                "--quiet",
                "--no-deps",
                "--message-format",
                "short",
            ])
            .args(features)
            .arg("--")
            .args(every_lint())
            .current_dir(&package)
            // Flags of the user's switch lints, too. Even an empty value is used instead of those in a configuration.
            .env("RUSTFLAGS", "")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .env("CARGO_TARGET_DIR", package.with_file_name("lints-target"))
            .output()
            .expect("cargo runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{file}, {form:?}: {said}");
        let name = format!("{file}.rs:");
        let lines = said.lines().filter_map(|line| line.split_once(&name));
        lines.map(|(_, report)| report.to_owned()).collect()
    }

    /// Switches on all groups of clippy, and the compiler's optional lints.
    fn every_lint() -> Vec<String> {
        let help = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
            .args(["-W", "help"])
            .output()
            .expect("rustc lists its lints");
        let help = String::from_utf8_lossy(&help.stdout);
        let off = help.lines().filter_map(|line| {
            let mut words = line.split_whitespace();
            let (name, level) = (words.next()?, words.next()?);
            // These lints are not about code, or are about the whole package.
            let is_other = [
                "unstable-features",
                "linker-messages",
                "unused-crate-dependencies",
            ];
            (level == "allow" && !is_other.contains(&name)).then(|| name.to_owned())
        });
        let groups =
            ["all", "pedantic", "nursery", "restriction"].map(|group| format!("clippy::{group}"));
        let on = off.chain(groups).flat_map(|lint| ["-W".to_owned(), lint]);
        let nothing_of = ["-A", "clippy::blanket_clippy_restriction_lints"].map(str::to_owned);
        on.chain(nothing_of).collect()
    }

    /// A package with the file as its library.
    fn package(file: &str) -> PathBuf {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let rest = format!(
            "async-trait = \"0.1\"\ntracing = {{ version = \"0.1\", features = [\"attributes\"] }}\n\n\
             [features]\nlocked = []\n\n[lib]\npath = {:?}\n",
            here.join(format!("lints/{file}.rs")),
        );
        let package = crate::package(&format!("lints-of-{file}"), &rest);
        // The largest function is small.
        let sizes = "too-many-lines-threshold = 3\ncognitive-complexity-threshold = 1\n";
        let sizes = if file == "expectations" { sizes } else { "" };
        fs::write(package.join("clippy.toml"), sizes).expect("thresholds");
        package
    }
}
