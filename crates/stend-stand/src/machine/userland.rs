//! The system's name, its C library and its compiler.

use super::texts::Texts;

/// The system's name from `/etc/os-release`: `PRETTY_NAME`, or `NAME` and `VERSION`.
pub(super) fn system(os_release: &str) -> Option<String> {
    let field = |name: &str| {
        let value = os_release.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix('='))?;
        let value = value.trim().trim_matches(['"', '\'']).trim();
        (!value.is_empty()).then(|| value.to_owned())
    };
    field("PRETTY_NAME").or_else(|| {
        let name = field("NAME")?;
        Some(field("VERSION").map_or_else(|| name.clone(), |version| format!("{name} {version}")))
    })
}

/// The C library and its version, from what it says itself when it is started, or `ldd --version` prints, in the same words; failing that, from
/// `getconf GNU_LIBC_VERSION`.
pub(super) fn libc(texts: &Texts) -> Option<String> {
    let said = ["libc", "ldd --version"].into_iter().filter_map(|name| texts.get(name)).find_map(libc_of);
    said.or_else(|| texts.line("getconf GNU_LIBC_VERSION").filter(|text| text.starts_with("glibc ")).map(str::to_owned))
}

fn libc_of(said: &str) -> Option<String> {
    let mut lines = said.lines().map(str::trim);
    let first = lines.next().unwrap_or("");
    if first.starts_with("musl") {
        let version = lines.find_map(|line| line.strip_prefix("Version "));
        return Some(version.map_or_else(|| "musl".to_owned(), |version| format!("musl {version}")));
    }
    // `ldd (Debian GLIBC 2.36-9+deb12u14) 2.36`: the packager's version is kept, because packagers patch.
    // `GNU C Library (Debian GLIBC 2.36-9+deb12u14) stable release version 2.36.`
    let ldd = first.strip_prefix("ldd (").and_then(|rest| rest.rsplit_once(") "));
    let own = || first.strip_prefix("GNU C Library (")?.rsplit_once(") stable release version ");
    let (packager, version) = ldd.or_else(own)?;
    let (packager, version) = (packager.trim(), version.split(',').next()?.trim_end_matches('.'));
    let plain = ["GNU libc", "GNU C Library"].contains(&packager);
    Some(if plain { format!("glibc {version}") } else { format!("glibc {version} ({packager})") })
}

/// Compilers in the order in which the script looks for them.
pub(super) const COMPILERS: [&str; 4] = ["cc", "lcc", "gcc", "clang"];

/// The compiler that the machine has.
pub(super) fn compiler(texts: &Texts) -> Option<String> {
    compiler_of(COMPILERS.iter().find_map(|compiler| texts.get(&format!("{compiler} --version")))?)
}

/// The first two lines that a compiler says of itself. gcc's second line is a copyright, which says nothing of it.
pub fn compiler_of(said: &str) -> Option<String> {
    let lines: Vec<_> = said.lines().map(str::trim).take(2).filter(|line| !line.starts_with("Copyright")).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Output;

    fn texts(text: &str) -> Texts {
        Texts::parse(&Output { exit: Some(0), stdout: text.into(), stderr: Vec::new() })
    }

    #[test]
    fn libraries_are_known() {
        let libc = |text: &str| libc(&texts(text));
        assert_eq!(
            libc("ldd --version:ldd (Debian GLIBC 2.36-9+deb12u14) 2.36\n").as_deref(),
            Some("glibc 2.36 (Debian GLIBC 2.36-9+deb12u14)")
        );
        assert_eq!(
            libc("libc:GNU C Library (Debian GLIBC 2.36-9+deb12u14) stable release version 2.36.\nlibc:Copyright")
                .as_deref(),
            Some("glibc 2.36 (Debian GLIBC 2.36-9+deb12u14)")
        );
        assert_eq!(
            libc("libc:GNU C Library (GNU libc) stable release version 2.23, by Roland McGrath et al.").as_deref(),
            Some("glibc 2.23")
        );
        assert_eq!(libc("ldd --version:ldd (GNU libc) 2.28").as_deref(), Some("glibc 2.28"));
        assert_eq!(
            libc("ldd --version:musl libc (x86_64)\nldd --version:Version 1.2.5").as_deref(),
            Some("musl 1.2.5")
        );
        assert_eq!(libc("getconf GNU_LIBC_VERSION:glibc 2.23").as_deref(), Some("glibc 2.23"));
        assert_eq!(libc("ldd --version:what?"), None);
    }

    #[test]
    fn the_compiler_keeps_the_lines_that_say_something() {
        let compiler = |text: &str| compiler(&texts(text));
        assert_eq!(
            compiler("cc --version:cc (Debian 12.2.0) 12.2.0\ncc --version:Copyright (C)").as_deref(),
            Some("cc (Debian 12.2.0) 12.2.0")
        );
        assert_eq!(
            compiler("lcc --version:lcc:1.27.14\nlcc --version:gcc (GCC) 9.3.0 compatible\n").as_deref(),
            Some("lcc:1.27.14\ngcc (GCC) 9.3.0 compatible")
        );
    }

    #[test]
    fn the_system_has_a_name() {
        assert_eq!(system("NAME=\"ALT\"\nVERSION='10.1'\n").as_deref(), Some("ALT 10.1"));
        assert_eq!(system("ID=x"), None);
    }
}
