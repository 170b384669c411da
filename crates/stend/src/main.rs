//! The program `stend`. All of it is in the library.

fn main() -> std::process::ExitCode {
    stend::main()
}
