//! Sessions over a connection that an ssh client holds open, asked for at its control socket as a second ssh client would ask: by the protocol that
//! OpenSSH describes in PROTOCOL.mux, version 4. To start that second client takes more of the lab's time than all else that it does for a command.

use std::io::{self, Error, ErrorKind, IoSlice, PipeReader, PipeWriter, Read, Write};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

const VERSION: u32 = 4;
/// The kinds of messages, as PROTOCOL.mux calls them: MUX_MSG_HELLO, MUX_C_NEW_SESSION, MUX_S_PERMISSION_DENIED, MUX_S_FAILURE, MUX_S_EXIT_MESSAGE.
const HELLO: u32 = 1;
const NEW_SESSION: u32 = 0x1000_0002;
const PERMISSION_DENIED: u32 = 0x8000_0002;
const FAILURE: u32 = 0x8000_0003;
const EXIT_MESSAGE: u32 = 0x8000_0004;
/// No key of the terminal is anything else than itself.
const NO_ESCAPE_CHARACTER: u32 = u32::MAX;
/// A message is never longer, in bytes.
const LONGEST: u32 = 256 << 10;
/// The client that holds the connection greets at once, whatever the link does.
const PATIENCE: Duration = Duration::from_secs(20);

/// A command over there.
pub(super) struct Channel {
    pub(super) stdin: PipeWriter,
    pub(super) stdout: PipeReader,
    pub(super) stderr: PipeReader,
    pub(super) control: Control,
}

/// What the client that holds the connection says of a session. It ends when both ends of this are closed.
pub(super) struct Control(UnixStream);

/// How a session ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The command exited, with this status.
    Exit(i32),
    /// A signal ended it, or the link dropped.
    Lost,
    /// It never began; why, in one line.
    Refused(String),
}

impl Channel {
    /// Starts a command, with these variables (`NAME=value`) if the machine accepts them.
    ///
    /// # Errors
    /// No ssh client listens there any more, or it speaks another protocol.
    pub(super) fn open(socket: &Path, command: &str, environment: &[String]) -> io::Result<Self> {
        let mut stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let (kind, greeting) = receive(&mut stream)?;
        let version = number(&mut &greeting[..])?;
        if (kind, version) != (HELLO, VERSION) {
            let words = format!("ssh's control socket speaks version {version} of its protocol; stend knows {VERSION}");
            return Err(Error::other(words));
        }
        stream.set_read_timeout(None)?;
        let ((their_input, stdin), (stdout, their_output)) = (io::pipe()?, io::pipe()?);
        let (stderr, their_errors) = io::pipe()?;
        // The number of the request; neither terminal, nor X11, nor agent, nor subsystem; the terminal's name.
        let mut request = Message::of(NEW_SESSION).number(0).text("");
        for _ in 0..4 {
            request = request.number(0);
        }
        request = request.number(NO_ESCAPE_CHARACTER).text("").text(command);
        for variable in environment {
            request = request.text(variable);
        }
        stream.write_all(&Message::of(HELLO).number(VERSION).bytes())?;
        stream.write_all(&request.bytes())?;
        for end in [their_input.as_fd(), their_output.as_fd(), their_errors.as_fd()] {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut rights = SendAncillaryBuffer::new(&mut space);
            let ends = [end];
            rights.push(SendAncillaryMessage::ScmRights(&ends));
            sendmsg(&stream, &[IoSlice::new(&[0])], &mut rights, SendFlags::NOSIGNAL)?;
        }
        Ok(Self { stdin, stdout, stderr, control: Control(stream) })
    }
}

impl Control {
    /// Another handle of the same.
    pub(super) fn another(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }

    /// Waits for the session's end.
    pub(super) fn end(&mut self) -> End {
        let mut end = End::Lost;
        while let Ok((kind, body)) = receive(&mut self.0) {
            // Behind the number of the request or of the session.
            let mut rest = body.get(4..).unwrap_or_default();
            match kind {
                EXIT_MESSAGE => {
                    // ssh's own status of what a signal ended.
                    end = number(&mut rest).map_or(End::Lost, |status| End::Exit(status as i32));
                }
                PERMISSION_DENIED | FAILURE => {
                    let words = rest.get(4..).map(String::from_utf8_lossy).unwrap_or_default();
                    end = End::Refused(words.lines().next().unwrap_or("the session was refused").to_owned());
                }
                _ => {}
            }
        }
        end
    }

    /// Ends the session: its command finds its standard input at its end.
    pub(super) fn close(&self) {
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

/// A message, all but its length: numbers of four bytes, the highest first, and texts behind their lengths.
struct Message(Vec<u8>);

impl Message {
    fn of(kind: u32) -> Self {
        Self(Vec::new()).number(kind)
    }

    fn number(mut self, number: u32) -> Self {
        self.0.extend(number.to_be_bytes());
        self
    }

    fn text(self, text: &str) -> Self {
        let mut longer = self.number(text.len() as u32);
        longer.0.extend(text.bytes());
        longer
    }

    fn bytes(self) -> Vec<u8> {
        Self(Vec::new()).number(self.0.len() as u32).0.into_iter().chain(self.0).collect()
    }
}

fn number(from: &mut impl Read) -> io::Result<u32> {
    let mut bytes = [0; 4];
    from.read_exact(&mut bytes)?;
    Ok(u32::from_be_bytes(bytes))
}

/// A message: its kind, and what comes behind that.
fn receive(from: &mut impl Read) -> io::Result<(u32, Vec<u8>)> {
    let length = number(from)?;
    if !(4..=LONGEST).contains(&length) {
        return Err(ErrorKind::InvalidData.into());
    }
    let kind = number(from)?;
    let mut body = vec![0; length as usize - 4];
    from.read_exact(&mut body)?;
    Ok((kind, body))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;
    use std::thread;

    use super::*;

    /// What an ssh client would answer.
    fn answered(answers: Vec<Vec<u8>>) -> End {
        let directory = tempfile::tempdir().unwrap();
        let socket = directory.path().join("link");
        let listener = UnixListener::bind(&socket).unwrap();
        let master = thread::spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            stream.write_all(&Message::of(HELLO).number(VERSION).bytes()).unwrap();
            let (kind, _) = receive(&mut stream).unwrap();
            assert_eq!(kind, HELLO);
            let (kind, request) = receive(&mut stream).unwrap();
            assert_eq!(kind, NEW_SESSION);
            assert!(String::from_utf8_lossy(&request).ends_with("echo hello\0\0\0\x06LANG=C"), "{request:?}");
            // The three streams; they are closed unseen.
            stream.read_exact(&mut [0; 3]).unwrap();
            for answer in answers {
                stream.write_all(&answer).unwrap();
            }
        });
        let mut session = Channel::open(&socket, "echo hello", &["LANG=C".into()]).unwrap();
        let end = session.control.end();
        master.join().unwrap();
        end
    }

    #[test]
    fn a_session_exits_is_lost_or_is_refused() {
        let opened = || Message::of(0x8000_0006).number(0).number(7).bytes();
        let exit = Message::of(EXIT_MESSAGE).number(7).number(3).bytes();
        assert_eq!(answered(vec![opened(), exit]), End::Exit(3));
        assert_eq!(answered(vec![opened()]), End::Lost);
        let refused = Message::of(FAILURE).number(0).text("Channel open refused by peer").bytes();
        assert_eq!(answered(vec![refused]), End::Refused("Channel open refused by peer".into()));
        assert_eq!(answered(vec![vec![0xFF; 40]]), End::Lost, "no such long message is waited for");
    }
}
