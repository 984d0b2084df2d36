//! Finds the program of a database server, in the folders of Debian's packages or in the folder of
//! the option `?bin=`.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::{Kind, Options, ServerError, ServerErrorKind};

/// The executable of a database server on this machine, and its installation folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) exe: PathBuf,
    /// Installation folder of the server: the folder that contains `bin`, or else the executable's
    /// own folder.
    pub(crate) base: PathBuf,
    /// Folders with libraries that are bundled with the program; empty if the operating system has
    /// installed the program.
    libraries: Vec<PathBuf>,
}

/// Value of PATH for servers and watchdogs. They inherit nothing from dbdyno's environment, so that
/// a run does not depend on it.
pub(crate) const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Subfolders of the folder given as `?bin=` that may contain the server's program: those of
/// Debian, of the vendors' archives, and of npm packages (`server/mysqld`, `native/bin/postgres`).
const BELOW: &[&str] = &["", "bin", "sbin", "libexec", "server", "native/bin"];

const SYSTEM: &[&str] = &["/usr/sbin", "/usr/bin", "/usr/libexec", "/usr/local/sbin"];
const SYSTEM_BASES: &[&str] = &["/", "/usr", "/usr/local"];

const POSTGRES_VERSIONS: &str = "/usr/lib/postgresql";

/// Checks that the server program of this product is installed, without starting the server. Fails
/// with advice if it is not.
pub fn check_installed(kind: Kind, options: &Options) -> Result<(), ServerError> {
    Program::find(kind, options.bin.as_deref()).map(drop)
}

impl Program {
    pub(crate) fn find(kind: Kind, bin: Option<&Path>) -> Result<Program, ServerError> {
        let found = match bin {
            Some(bin) => candidates(kind, bin).into_iter().find(|path| path.is_file()),
            None => system(kind).into_iter().find(|path| path.is_file()),
        };
        let missing = || ServerError::new(ServerErrorKind::NotInstalled, missing(kind, bin));
        let exe = found.ok_or_else(missing)?;
        // The server runs in its own folder, where a relative path would be wrong.
        let exe =
            fs::canonicalize(&exe).map_err(|error| ServerError::system(exe.display(), error))?;
        let may_run = fs::metadata(&exe).is_ok_and(|data| data.permissions().mode() & 0o111 != 0);
        if !may_run {
            let text = format!("{0} is not executable: chmod +x {0}", exe.display());
            return Err(ServerError::new(ServerErrorKind::NotInstalled, text));
        }
        Ok(Program::at(exe))
    }

    fn at(exe: PathBuf) -> Program {
        let folder = exe.parent().unwrap_or(Path::new("/"));
        let in_bin = matches!(folder.file_name().and_then(OsStr::to_str), Some("bin" | "sbin"));
        let base = if in_bin { folder.parent().unwrap_or(folder) } else { folder }.to_owned();
        let mut libraries = Vec::new();
        if !SYSTEM_BASES.iter().any(|system| base == Path::new(system)) {
            let own = (!in_bin).then(|| folder.to_owned());
            let places = own.into_iter().chain([base.join("lib"), base.join("libs")]);
            libraries.extend(places.filter(|place| place.is_dir()));
        }
        Program { exe, base, libraries }
    }

    /// Whether the operating system has installed the program, in a folder such as `/usr/sbin`, so
    /// that it finds its libraries and messages without help.
    pub(crate) fn is_of_system(&self) -> bool {
        SYSTEM_BASES.iter().any(|system| self.base == Path::new(system))
    }

    /// Returns the path of another program, such as `initdb`, in the same folder as the server's
    /// program.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.exe.with_file_name(name)
    }

    /// Returns the value of LD_LIBRARY_PATH that the program needs; `None` without bundled
    /// libraries. npm packages lack the symbolic links that the loader needs (`libicuuc.so.60` for
    /// `libicuuc.so.60.2`), so these are created in the folder `links`; the package itself is not
    /// changed.
    pub(crate) fn libraries(&self, links: &Path) -> std::io::Result<Option<String>> {
        for folder in &self.libraries {
            for entry in fs::read_dir(folder)? {
                let name = entry?.file_name();
                for short in name.to_str().into_iter().flat_map(shorter_names) {
                    let link = links.join(short);
                    if !folder.join(short).exists() && link.symlink_metadata().is_err() {
                        symlink(folder.join(&name), link)?;
                    }
                }
            }
        }
        let all = std::iter::once(links).chain(self.libraries.iter().map(PathBuf::as_path));
        let all: Vec<&str> = all.filter_map(Path::to_str).collect();
        Ok((!self.libraries.is_empty()).then(|| all.join(":")))
    }
}

/// Returns the shorter names of a library by which the loader looks for it: `libx.so.60` and
/// `libx.so` for `libx.so.60.2`.
fn shorter_names(name: &str) -> Vec<&str> {
    let Some((stem, _)) = name.split_once(".so.") else { return Vec::new() };
    let shortest = stem.len() + ".so".len();
    let dots = name.char_indices().filter(|(at, c)| *c == '.' && *at >= shortest);
    dots.map(|(at, _)| &name[..at]).collect()
}

fn names(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::MariaDb => &["mariadbd", "mysqld"],
        Kind::MySql => &["mysqld"],
        Kind::Postgres => &["postgres"],
    }
}

fn candidates(kind: Kind, bin: &Path) -> Vec<PathBuf> {
    let below = |name: &'static &str| BELOW.iter().map(move |folder| bin.join(folder).join(name));
    let mut all = vec![bin.to_owned()];
    all.extend(names(kind).iter().flat_map(below));
    all
}

fn system(kind: Kind) -> Vec<PathBuf> {
    let everywhere = |name: &'static &str| SYSTEM.iter().map(move |at| Path::new(at).join(name));
    let mut all = Vec::new();
    if kind == Kind::Postgres {
        // The newest of Debian's versions, several of which may be installed.
        let entries = fs::read_dir(POSTGRES_VERSIONS).into_iter().flatten().flatten();
        let number = |name: &OsStr| name.to_str().and_then(|name| name.parse::<u32>().ok());
        let mut versions: Vec<u32> =
            entries.filter_map(|entry| number(&entry.file_name())).collect();
        versions.sort_unstable_by(|a, b| b.cmp(a));
        let path = |version| Path::new(POSTGRES_VERSIONS).join(format!("{version}/bin/postgres"));
        all.extend(versions.into_iter().map(path));
        all.push(PathBuf::from("/usr/local/pgsql/bin/postgres"));
    }
    all.extend(names(kind).iter().flat_map(everywhere));
    all
}

fn missing(kind: Kind, bin: Option<&Path>) -> String {
    let title = kind.title();
    let names = names(kind).join("' or '");
    match bin {
        Some(bin) => format!(
            "there is no '{names}' in {} nor in its folders bin, sbin, server, native/bin: name \
             the folder of {title} with ?bin=",
            bin.display()
        ),
        None => {
            let package = match kind {
                Kind::MariaDb => "install Debian's mariadb-server",
                Kind::MySql => "install it",
                Kind::Postgres => "install Debian's postgresql",
            };
            format!("no {title} server is installed: {package}, or name its folder with ?bin=")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_there_is_reported_with_its_remedy() {
        let folder = tempfile::tempdir().expect("a folder");
        let check = |kind: Kind, bin: &Path, expect: &str| {
            let error = Program::find(kind, Some(bin)).expect_err("nothing there");
            assert_eq!(error.kind, ServerErrorKind::NotInstalled);
            assert!(error.text.contains(expect), "{error}");
        };
        check(Kind::MariaDb, folder.path(), "there is no 'mariadbd' or 'mysqld' in ");
        check(Kind::MySql, &folder.path().join("nowhere"), "with ?bin=");
        fs::create_dir_all(folder.path().join("native/bin")).expect("made");
        fs::write(folder.path().join("native/bin/postgres"), "").expect("written");
        check(Kind::Postgres, folder.path(), "is not executable: chmod +x ");
        assert!(missing(Kind::MariaDb, None).contains("install Debian's mariadb-server, or name"));
    }

    #[test]
    fn parts_are_looked_for_around_the_program() {
        let debian = Program::at(PathBuf::from("/usr/sbin/mariadbd"));
        assert_eq!((debian.base.as_path(), debian.libraries.len()), (Path::new("/usr"), 0));
        assert!(debian.is_of_system());
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("lib")).expect("made");
        let own = Program::at(folder.path().join("mysqld"));
        assert_eq!(own.libraries, [folder.path().to_owned(), folder.path().join("lib")]);
        let packed = Program::at(folder.path().join("bin/postgres"));
        assert_eq!(packed.libraries, [folder.path().join("lib")]);
    }

    #[test]
    fn libraries_are_found_by_the_names_they_are_asked_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let (base, links) = (folder.path().join("base"), folder.path().join("links"));
        fs::create_dir_all(base.join("lib")).expect("made");
        fs::create_dir(&links).expect("made");
        fs::write(base.join("lib/libicuuc.so.60.2"), "").expect("written");
        let program = Program::at(base.join("bin/postgres"));
        let path = program.libraries(&links).expect("linked").expect("libraries of its own");
        assert_eq!(path, format!("{}:{}", links.display(), base.join("lib").display()));
        assert!(links.join("libicuuc.so.60").is_file() && links.join("libicuuc.so").is_file());
        assert_eq!(shorter_names("libaio.so.1"), ["libaio.so"]);
        assert_eq!(shorter_names("plain.so"), [""; 0]);
    }
}
