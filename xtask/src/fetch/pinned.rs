//! Servers that are fetched from Debian's unstable suite, with the pinned version and checksum of
//! each of their packages.
//!
//! To raise the pins, remove the fetched folder, run `cargo xtask servers`, and replace the rows by
//! those that it prints. Not here: fetching them (`debian`).

/// A server of Debian's unstable suite, and the packages that it needs.
pub(super) struct DebianServer {
    /// Name of the server's program in `usr/sbin`.
    pub(super) program: &'static str,
    /// Folder in `usr/share` with its messages and scripts.
    pub(super) share: &'static str,
    /// First part of the versions for which the tests are written.
    pub(super) series: &'static str,
    /// Name, version and SHA-256 checksum of each package: the server, and the libraries that `ldd`
    /// lists.
    pub(super) packages: &'static [(&'static str, &'static str, &'static str)],
}

pub(super) static MYSQL_9_7: DebianServer = DebianServer {
    program: "mysqld",
    share: "mysql",
    series: "9.7.",
    packages: &[
        (
            "mysql-server-core",
            "9.7.4-2",
            "628d2d7d2dc827507bcae80677a9950766b002bec2c658cb96343d9f324f8660",
        ),
        (
            "libaio1t64",
            "0.3.113-10",
            "90612397d7817113c28c56a42e67116bbfb4f3f857ee1520e0509ac9d8616a72",
        ),
        ("libc6", "2.43-7", "5c71715c51103beb4fbba9fe9f8dff604af6610dfa71c70bff342f54a7860803"),
        (
            "libgcc-s1",
            "16.2.0-4",
            "d251ea642c3795e8723ac2b9eeebe511467ca04590ba70f3d555a7616787d7e3",
        ),
        (
            "libgoogle-perftools4t64",
            "2.18.1-2",
            "dd0b14852c08c483e9ce150b1f42068740483b75ce6b73618667a418654b04f5",
        ),
        ("libicu78", "78.3-2", "dc918ea6cbe7bb6feea43aac3920a86a29dcc5faf4c56d8f0948408f9076d866"),
        (
            "liblz4-1",
            "1.10.0-10",
            "069d0349906af0335de6cb6a4132f0ac45c1e1db0dffffdcb5b1d291f8f6a66f",
        ),
        ("liblzma5", "5.8.4-1", "2dd166f61cb2a32c50f1a4dd3cd34f5f18a4ff97a6ff23665b9a57537fd60625"),
        (
            "libnuma1",
            "2.0.19-1+b2",
            "c4175eb2a991806b5f683f7b2a6a9e444f310058763070b30417e1f1021cf04c",
        ),
        (
            "libprotobuf-lite32t64",
            "3.21.12-17",
            "8ed87b981d1281b38c4e5dc17feedb6866acf996789b51833529dc22d3a4c3b8",
        ),
        (
            "libssl3t64",
            "3.6.5-1",
            "0a0ec84fe860c5c93c74d53cbb071aea0793327a3761b483080e9d7b73c21b37",
        ),
        (
            "libstdc++6",
            "16.2.0-4",
            "cef6654bba1daece0bc0dbe0e3f69fa5a26eb6ba139f3536e6f4806bd787f3e7",
        ),
        (
            "libunwind8",
            "1.8.1-0.4",
            "aee9cb6fd8e298d52c398eabea640e0a49b198d77c0e6df34e69ed97e255b9b3",
        ),
        (
            "libxxhash0",
            "0.8.3-2+b2",
            "3dc2a55daf655f3c07df99b2be4cb7eea6b79089e66407f6739fe40c267907c4",
        ),
        (
            "libzstd1",
            "1.5.7+dfsg-4",
            "93e7930e4c25b918f1dd980cc1c6d4487654a248f5fa71eacb976ed7bbe954bd",
        ),
        (
            "zlib1g",
            "1:1.3.dfsg+really1.3.2-4",
            "8506ce550a81ac14b047608e0df121037d9cbb10c3cc28446f68cf8c1d9d31ce",
        ),
    ],
};

pub(super) static MARIADB_11_8: DebianServer = DebianServer {
    program: "mariadbd",
    share: "mariadb",
    series: "11.8.",
    packages: &[
        (
            "mariadb-server-core",
            "1:11.8.9+ds-4",
            "849c5ce5b5293a67647b83dab24b6021d178396f4990ca161b48ccdc2554d6e9",
        ),
        (
            "libaio1t64",
            "0.3.113-10",
            "90612397d7817113c28c56a42e67116bbfb4f3f857ee1520e0509ac9d8616a72",
        ),
        ("libc6", "2.43-7", "5c71715c51103beb4fbba9fe9f8dff604af6610dfa71c70bff342f54a7860803"),
        (
            "libcrypt1",
            "1:4.5.2+20251210-1",
            "3ed2cd1666bb12315542f03c892e98d83efb382b7de1747d60d9960899857ed5",
        ),
        (
            "libgcc-s1",
            "16.2.0-4",
            "d251ea642c3795e8723ac2b9eeebe511467ca04590ba70f3d555a7616787d7e3",
        ),
        (
            "libnuma1",
            "2.0.19-1+b2",
            "c4175eb2a991806b5f683f7b2a6a9e444f310058763070b30417e1f1021cf04c",
        ),
        (
            "libpcre2-8-0",
            "10.49-1",
            "854da48a72f55b3f6f20389b58a3e94bddd06dc02b2a9fadd006ccd0048d14ab",
        ),
        (
            "libssl3t64",
            "3.6.5-1",
            "0a0ec84fe860c5c93c74d53cbb071aea0793327a3761b483080e9d7b73c21b37",
        ),
        (
            "libstdc++6",
            "16.2.0-4",
            "cef6654bba1daece0bc0dbe0e3f69fa5a26eb6ba139f3536e6f4806bd787f3e7",
        ),
        (
            "libsystemd0",
            "262.1-1",
            "7fc74653ff64a71e97e0d6d7c0cbb195a62ec0d3a13a7263dd37369494dfcc42",
        ),
        ("liburing2", "2.15-1", "e1034703cc586b452f4e7ed39fdeba826e338d7796b45dde3965ab47fa76cb1e"),
        (
            "libzstd1",
            "1.5.7+dfsg-4",
            "93e7930e4c25b918f1dd980cc1c6d4487654a248f5fa71eacb976ed7bbe954bd",
        ),
        (
            "zlib1g",
            "1:1.3.dfsg+really1.3.2-4",
            "8506ce550a81ac14b047608e0df121037d9cbb10c3cc28446f68cf8c1d9d31ce",
        ),
    ],
};
