//! Other people's Morse coder, ripmors, for morse/bench: what it does in so much processor time.
//!
//! `stend-peer-morse encode|encode-ascii|decode|decode-russian FILE SECONDS` prints bytes read and nanoseconds.
//! It fails if the letters do not come back from what it coded.

#[path = "../clock.rs"]
#[allow(dead_code)] // of the clock, only the thread's time is wanted here
mod clock;

use std::hint::black_box;
use std::process::ExitCode;

use ripmors::{decode_string, encode_string, encode_string_ascii, to_russian, to_standard};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words) {
        Ok((bytes, ns)) => {
            println!("{bytes} {ns}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("stend-peer-morse: {why}");
            ExitCode::from(2)
        }
    }
}

/// What both codes have in common: of marks, the Russian one has others than the international one, which is what ripmors
/// writes; Ё is sent as Е; and ripmors has one code for Ъ and Ь, and decodes that of Э as Ѣ.
fn letters(text: &str) -> String {
    text.chars()
        .filter(|c| c.is_alphabetic())
        .flat_map(char::to_uppercase)
        .filter(|c| !matches!(c, 'Ё' | 'Е' | 'Ъ' | 'Ь' | 'Э' | 'Ѣ'))
        .collect()
}

fn run(words: &[String]) -> Result<(u64, u64), String> {
    let [what, file, seconds] = words else {
        return Err("wants three words: encode|encode-ascii|decode|decode-russian FILE SECONDS".into());
    };
    let seconds: f64 = seconds.parse().map_err(|_| format!("{seconds}: no number of seconds"))?;
    let input = std::fs::read_to_string(file).map_err(|why| format!("{file}: {why}"))?;
    let back: fn(u8) -> char = if input.is_ascii() && what != "decode-russian" { to_standard } else { to_russian };
    let pass: Box<dyn Fn() -> String> = match what.as_str() {
        "encode" => Box::new(|| encode_string(black_box(&input))),
        "encode-ascii" => Box::new(|| encode_string_ascii(black_box(input.as_bytes()))),
        "decode" | "decode-russian" => Box::new(|| decode_string(black_box(input.as_bytes()), back)),
        _ => return Err(format!("{what}: neither encode, encode-ascii, decode nor decode-russian")),
    };
    let output = pass();
    let text = if what.starts_with("encode") { decode_string(output.as_bytes(), back) } else { output };
    let expected =
        if what.starts_with("encode") { input.clone() } else { decode_string(encode_string(&text).as_bytes(), back) };
    let right = letters(&text) == letters(&expected) && text.lines().count() == expected.lines().count();
    if !right {
        return Err(format!("{file}: {what} does not give back what went in"));
    }
    let (begin, mut bytes) = (clock::thread_cpu_ns(), 0);
    loop {
        black_box(pass());
        bytes += input.len() as u64;
        let ns = clock::thread_cpu_ns() - begin;
        if ns as f64 >= seconds * 1e9 {
            return Ok((bytes, ns));
        }
    }
}
