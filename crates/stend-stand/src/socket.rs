//! Unix sockets by paths of any length.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Connects to a socket. Its address may have no more than 108 bytes, and a path may have: so it is named by its open directory.
///
/// # Errors
/// Nobody listens there.
pub fn connected(socket: &Path) -> io::Result<UnixStream> {
    let (Some(directory), Some(name)) = (socket.parent(), socket.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let directory = File::open(directory)?;
    UnixStream::connect(Path::new("/proc/self/fd").join(directory.as_raw_fd().to_string()).join(name))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_socket_is_reached_whose_path_is_too_long_for_an_address() {
        let place = tempfile::tempdir().unwrap();
        let long = place.path().join("d".repeat(120));
        std::fs::create_dir(&long).unwrap();
        let _listens = UnixListener::bind(place.path().join("s")).unwrap();
        std::fs::rename(place.path().join("s"), long.join("s")).unwrap();
        connected(&long.join("s")).unwrap();
        assert_eq!(connected(&long.join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(connected(Path::new("/")).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }
}
