//! Switch of the kernel's timestamps of received data (`SO_TIMESTAMPING`). The example `reply_lag`
//! includes this file. Not here: when they are on, and reading them.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// Sets the socket option `SO_TIMESTAMPING` to the flags `wanted` (`SOF_TIMESTAMPING_*`), with
/// which the kernel timestamps packets; 0 switches timestamps off.
#[allow(unsafe_code)]
pub(crate) fn set_timestamping(socket: &impl AsFd, wanted: u32) -> io::Result<()> {
    // SAFETY: the kernel reads the four bytes of `wanted`, which lives through the call.
    let result = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPING,
            (&raw const wanted).cast(),
            size_of_val(&wanted) as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
