//! The built-in transport: client processes on this machine, with pipes as standard input and
//! output. A message is sent behind its length, which takes four bytes, big-endian.
//!
//! Not here: the messages (message).

use std::io::{self, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use super::AGENT;
use super::link::{Incoming, Link, MESSAGE_BYTES_MAX, Outgoing, Peer, Transport};
use super::message::send;
use super::permissions::{LIMITED, Permissions};
use crate::network::OURSELVES;
use crate::settings::without_secrets;

pub(super) const PIPES: Pipes = Pipes;

pub(super) struct Pipes;

impl Transport for Pipes {
    fn name(&self) -> &'static str {
        "pipes"
    }

    fn start(&self, _number: u32) -> io::Result<(Link, Box<dyn Peer>)> {
        start(&[], false)
    }

    fn join(&self, _words: &[String]) -> io::Result<Link> {
        Ok(Link {
            incoming: Box::new(FromPipe(BufReader::new(io::stdin()))),
            outgoing: Arc::new(ToPipe(Mutex::new(io::stdout()))),
        })
    }
}

/// Starts a client process on this machine that does nothing but what is allowed. The caller passes
/// messages between it and a run on another host.
pub fn start_limited(permissions: &Permissions) -> io::Result<(Link, Box<dyn Peer>)> {
    // The restart command of a server needs what its user has set, such as PATH.
    let (link, peer) = start(&[LIMITED], permissions.control.is_some())?;
    send(link.outgoing.as_ref(), permissions)?;
    Ok((link, peer))
}

/// Starts this program again as a client process, with this process's environment or without any.
fn start(words: &[&str], has_environment: bool) -> io::Result<(Link, Box<dyn Peer>)> {
    let mut command = Command::new(OURSELVES);
    command.arg0("dbdyno").args([AGENT, PIPES.name()]).args(words);
    match has_environment {
        true => without_secrets(&mut command),
        false => command.env_clear(),
    };
    // In its own process group, so that Ctrl-C reaches it through us, once.
    let mut child =
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let input = child.stdin.take().expect("stdin was asked to be a pipe");
    let output = child.stdout.take().expect("stdout was asked to be a pipe");
    let link = Link {
        incoming: Box::new(FromPipe(BufReader::new(output))),
        outgoing: Arc::new(ToPipe(Mutex::new(input))),
    };
    Ok((link, Box::new(Local(child))))
}

/// A client process that this process started. It ends when its input does; dropping this value
/// kills it.
struct Local(Child);

impl Peer for Local {
    fn process_id(&self) -> Option<u32> {
        Some(self.0.id())
    }

    fn how_it_ended(&mut self, has_closed: bool) -> Option<String> {
        // The output ends a moment before the process does.
        let status = match has_closed {
            true => self.0.wait().ok(),
            false => self.0.try_wait().ok().flatten(),
        };
        status.map(|status| status.to_string())
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _reaped = self.0.wait();
    }
}

struct FromPipe<R>(BufReader<R>);

impl<R: Read + Send> Incoming for FromPipe<R> {
    fn receive(&mut self) -> Option<Vec<u8>> {
        read_framed(&mut self.0).ok()
    }
}

struct ToPipe<W>(Mutex<W>);

impl<W: Write + Send> Outgoing for ToPipe<W> {
    fn send(&self, message: &[u8]) -> io::Result<()> {
        write_framed(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), message)
    }
}

/// Writes the length of a message, and then the message. Fails if it is larger than 256 MiB.
pub fn write_framed(to: &mut impl Write, message: &[u8]) -> io::Result<()> {
    let length = u32::try_from(message.len()).ok();
    let fits = length.filter(|_| message.len() <= MESSAGE_BYTES_MAX);
    let length = fits.ok_or_else(|| io::Error::other("the message is too large"))?;
    // In one write, since a socket would delay the second one.
    to.write_all(&[&length.to_be_bytes(), message].concat())?;
    to.flush()
}

/// Reads one message that was written by [`write_framed`]. Fails at the end of the input, and if
/// the message is larger than 256 MiB.
pub fn read_framed(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length) as usize;
    if length > MESSAGE_BYTES_MAX {
        return Err(io::Error::other("the message is too large"));
    }
    // The buffer grows with what arrives, so a false length takes no memory.
    let mut message = Vec::new();
    let n_read = from.take(length as u64).read_to_end(&mut message)?;
    match n_read == length {
        true => Ok(message),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_whole_and_in_order_or_not_at_all() {
        let mut sent = Vec::new();
        let messages = [&b"first"[..], b"", &[7; 70_000]];
        for message in messages {
            write_framed(&mut sent, message).expect("memory takes it");
        }
        let mut rest = &sent[..];
        for message in messages {
            assert_eq!(read_framed(&mut rest).expect("it was sent"), message);
        }
        assert!(read_framed(&mut rest).is_err());
        for cut in [1, 3, 4, 8] {
            assert!(read_framed(&mut &sent[..cut]).is_err(), "{cut}");
        }
        assert!(read_framed(&mut &[0xff; 12][..]).is_err());
    }
}
