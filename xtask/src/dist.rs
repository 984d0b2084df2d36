//! Packages of dbdyno: a tarball, a package for Debian, and a container image, each with the
//! licences of its content. The README's first command is tested in each.
//!
//! Not here: the content of the image (packaging/Containerfile).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::cargo;

/// Numeric id of the user and of the group under which the container image runs dbdyno.
const IMAGE_USER: u32 = 10_001;

/// First command of the README, with a short load, which must work in each package.
const FIRST: [&str; 6] = ["run", "tpcc", "--ramp-up", "0s", "--duration", "1s"];

/// Commands of dbdyno whose manual pages are packed, in addition to that of the program.
const MANUAL: [&str; 12] = [
    "run",
    "build",
    "check",
    "settle",
    "drop",
    "runs",
    "experiments",
    "compare",
    "history",
    "report",
    "web",
    "show",
];

/// Builds the program with a profile of cargo, packs it, and tests each package.
pub(crate) fn run(root: &Path, profile: &str) -> Result<bool> {
    let options = ["--package", "dbdyno", "--features", "agents,pictures", "--locked"];
    pack(root, &cargo::build(root, &[&options[..], &["--profile", profile]].concat())?)
}

/// Packs a built program below `target/packages`, and tests each package.
pub(crate) fn pack(root: &Path, program: &Path) -> Result<bool> {
    let out = root.join("target/packages");
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    fs::create_dir_all(&out)?;
    let dist = Dist { root, out, version: version(root)?, licences: licences(root)? };
    let tree = dist.tree(program)?;
    dist.tarball(&tree)?;
    dist.debian(&tree)?;
    dist.image(&tree)?;
    Ok(true)
}

struct Dist<'r> {
    root: &'r Path,
    out: PathBuf,
    version: String,
    /// Licences of all Rust packages that are part of the program, each text once.
    licences: String,
}

impl Dist<'_> {
    /// Creates the folder with all files to be installed, laid out as below `/`, and returns its
    /// path.
    fn tree(&self, program: &Path) -> Result<PathBuf> {
        let tree = self.out.join("tree");
        let program = {
            let place = tree.join("usr/bin/dbdyno");
            put(&place, &fs::read(program)?, 0o755)?;
            done(Command::new("strip").arg(&place))?;
            place
        };
        let about = tree.join("usr/share/doc/dbdyno");
        for name in ["README.md", "CHANGELOG.md"] {
            put(&about.join(name), &fs::read(self.root.join(name))?, 0o644)?;
        }
        let own = fs::read_to_string(self.root.join("LICENSE"))?;
        let copyright = format!("dbdyno\nCopyright: The dbdyno authors\n\n{own}");
        put(&about.join("copyright"), copyright.as_bytes(), 0o644)?;
        put(&about.join("THIRD-PARTY-LICENSES.txt"), self.licences.as_bytes(), 0o644)?;
        for folder in ["docs", "examples"] {
            put_all(&self.root.join(folder), &about.join(folder))?;
        }
        let said = |arguments: &[&str]| said(Command::new(&program).args(arguments));
        let manual = tree.join("usr/share/man/man1");
        put(&manual.join("dbdyno.1"), &said(&["man"])?, 0o644)?;
        for name in MANUAL {
            put(&manual.join(format!("dbdyno-{name}.1")), &said(&["man", name])?, 0o644)?;
        }
        for (shell, place) in [
            ("bash", "usr/share/bash-completion/completions/dbdyno"),
            ("zsh", "usr/share/zsh/vendor-completions/_dbdyno"),
            ("fish", "usr/share/fish/vendor_completions.d/dbdyno.fish"),
        ] {
            put(&tree.join(place), &said(&["completions", shell])?, 0o644)?;
        }
        let unit = fs::read(self.root.join("packaging/dbdyno-web.service"))?;
        put(&tree.join("usr/lib/systemd/system/dbdyno-web.service"), &unit, 0o644)?;
        Ok(tree)
    }

    /// Creates and tests a tarball of the installed files, which are all in one folder.
    fn tarball(&self, tree: &Path) -> Result<()> {
        let name = format!("dbdyno-{}-{}-linux", self.version, std::env::consts::ARCH);
        let file = self.out.join(format!("{name}.tar.gz"));
        let folder = format!("s,^\\.,{name},");
        done(
            Command::new("tar")
                .args(["--create", "--gzip", "--sort=name", "--owner=0", "--group=0"])
                .args(["--numeric-owner", "--mtime=@0", "--transform", &folder])
                .arg("--file")
                .arg(&file)
                .arg("--directory")
                .arg(tree)
                .arg("."),
        )?;
        let place = tempfile::tempdir()?;
        done(Command::new("tar").arg("--extract").arg("--file").arg(&file).current_dir(&place))?;
        let program = place.path().join(&name).join("usr/bin/dbdyno");
        self.works(&file, Command::new(program).env("HOME", place.path()))
    }

    /// Creates and tests a package for Debian and its derivatives.
    fn debian(&self, tree: &Path) -> Result<()> {
        let architecture =
            String::from_utf8(said(Command::new("dpkg").arg("--print-architecture"))?)?;
        let architecture = architecture.trim();
        let file = self.out.join(format!("dbdyno_{}_{architecture}.deb", self.version));
        let libc = libc_needed(&tree.join("usr/bin/dbdyno"))?;
        let staged = self.out.join("deb");
        done(Command::new("cp").arg("--archive").arg(tree).arg(&staged))?;
        let size = said(Command::new("du").args(["--summarize", "--block-size=1K"]).arg(tree))?;
        let size = String::from_utf8(size)?;
        let size = size.split_whitespace().next().unwrap_or("0");
        let control = format!(
            "Package: dbdyno\n\
             Version: {}\n\
             Architecture: {architecture}\n\
             Maintainer: The dbdyno authors\n\
             Depends: libc6 (>= {libc}), libgcc-s1\n\
             Suggests: mariadb-server, postgresql\n\
             Section: database\n\
             Priority: optional\n\
             Installed-Size: {size}\n\
             Description: database benchmark that measures honestly\n \
             Builds the data, drives the load, measures it, keeps every run, and shows and\n \
             compares runs, on MariaDB, MySQL, PostgreSQL and SQLite.\n",
            self.version,
        );
        put(&staged.join("DEBIAN/control"), control.as_bytes(), 0o644)?;
        let args = ["--root-owner-group", "-Zxz", "-z1", "--build"];
        done(Command::new("dpkg-deb").args(args).arg(&staged).arg(&file))?;
        fs::remove_dir_all(&staged)?;
        let place = tempfile::tempdir()?;
        done(Command::new("dpkg-deb").arg("--extract").arg(&file).arg(place.path()))?;
        let program = place.path().join("usr/bin/dbdyno");
        self.works(&file, Command::new(program).env("HOME", place.path()))
    }

    /// Creates the root file system of the container image, and with buildah the image itself. The
    /// README's first command is run in the file system, by a user other than root and in
    /// namespaces of its own.
    fn image(&self, tree: &Path) -> Result<()> {
        let image = self.out.join("image");
        for part in ["usr/bin/dbdyno", "usr/share/doc/dbdyno/copyright"] {
            let from = tree.join(part);
            let mode = fs::metadata(&from)?.permissions().mode() & 0o777;
            put(&image.join(part), &fs::read(&from)?, mode)?;
        }
        let licences = image.join("usr/share/doc/dbdyno/THIRD-PARTY-LICENSES.txt");
        put(&licences, self.licences.as_bytes(), 0o644)?;
        for library in libraries(&tree.join("usr/bin/dbdyno"))? {
            put(&within(&image, &library), &fs::read(&library)?, 0o755)?;
        }
        let authorities = Path::new("/etc/ssl/certs/ca-certificates.crt");
        if authorities.exists() {
            put(&within(&image, authorities), &fs::read(authorities)?, 0o644)?;
        }
        let user = format!("dbdyno:x:{IMAGE_USER}:{IMAGE_USER}::/var/lib/dbdyno:/usr/bin/dbdyno\n");
        put(&image.join("etc/passwd"), user.as_bytes(), 0o644)?;
        put(&image.join("etc/group"), format!("dbdyno:x:{IMAGE_USER}:\n").as_bytes(), 0o644)?;
        put(&image.join("etc/nsswitch.conf"), b"hosts: files dns\n", 0o644)?;
        for folder in ["tmp", "var/tmp", "var/lib/dbdyno", "proc", "sys", "dev"] {
            fs::create_dir_all(image.join(folder))?;
        }
        for folder in ["tmp", "var/tmp"] {
            fs::set_permissions(image.join(folder), fs::Permissions::from_mode(0o1777))?;
        }
        self.works(&image, &mut in_namespaces(&image))?;
        // Remove the data of the test.
        fs::remove_dir_all(image.join("var/lib/dbdyno"))?;
        fs::create_dir(image.join("var/lib/dbdyno"))?;
        // If the kernel does not allow building it, the test of its files has to do.
        if let Err(error) = self.build_image(&image) {
            println!("no image: {error:#}; its files are in {}", image.display());
        }
        Ok(())
    }

    /// Builds the container image with buildah, and runs the README's first command in the image,
    /// with its user and folder. If buildah is missing, only prints that.
    fn build_image(&self, image: &Path) -> Result<()> {
        if Command::new("buildah").arg("--version").stdout(Stdio::null()).status().is_err() {
            println!("no image: buildah is not installed; its files are in {}", image.display());
            return Ok(());
        }
        let buildah = |arguments: &[&str]| {
            let mut command = Command::new("buildah");
            command.args(["--storage-driver", "vfs"]).args(arguments);
            command
        };
        let tag = format!("localhost/dbdyno:{}", self.version);
        let file = self.out.join(format!("dbdyno-{}-image.tar", self.version));
        let how = ["--isolation", "chroot", "--format", "docker", "--tag", &tag, "--file"];
        let containerfile = self.root.join("packaging/Containerfile");
        done(buildah(&[&["build"], &how[..]].concat()).arg(containerfile).arg(image))?;
        let container = String::from_utf8(said(&mut buildah(&["from", &tag]))?)?;
        let container = container.trim();
        let run = ["run", "--isolation", "chroot", container, "--", "/usr/bin/dbdyno"];
        let works = self.works(&file, &mut buildah(&run));
        done(&mut buildah(&["rm", container]))?;
        works?;
        let archive = format!("docker-archive:{}:dbdyno:{}", file.display(), self.version);
        done(&mut buildah(&["push", &tag, &archive]))
    }

    /// Runs the README's first command with `program`, which must succeed and print a result.
    /// `what` names the package in messages.
    fn works(&self, what: &Path, program: &mut Command) -> Result<()> {
        let out = String::from_utf8(said(program.args(FIRST))?)?;
        let result = out.lines().find(|line| line.contains(" NOPM"));
        let result = result.with_context(|| format!("{}: no result:\n{out}", what.display()))?;
        println!("{}: {result}", what.display());
        Ok(())
    }
}

/// Returns a command that runs dbdyno as the image's user, with the image's root file system as
/// `/`.
fn in_namespaces(image: &Path) -> Command {
    let mut command = Command::new("unshare");
    let user = [format!("--map-user={IMAGE_USER}"), format!("--map-group={IMAGE_USER}")];
    // A shell of this machine mounts what a container runtime would.
    let script = "mount --rbind /dev \"$0/dev\" && mount -t proc proc \"$0/proc\" && \
                  mount --rbind /sys \"$0/sys\" && HOME=/var/lib/dbdyno exec chroot \"$0\" \
                  /usr/bin/dbdyno \"$@\"";
    command
        .args(user)
        .args(["--user", "--mount", "--pid", "--fork", "--keep-caps"])
        .args(["sh", "-c", script])
        .arg(image);
    command
}

/// Returns the place of an absolute path in a file system whose `/` is the folder `root`.
fn within(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// Copies all files of a folder and of its subfolders to `place`.
fn put_all(from: &Path, place: &Path) -> Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let place = place.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => put_all(&entry.path(), &place)?,
            false => put(&place, &fs::read(entry.path())?, 0o644)?,
        }
    }
    Ok(())
}

fn put(place: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let folder = place.parent().context("it has a folder")?;
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    fs::write(place, bytes).with_context(|| place.display().to_string())?;
    fs::set_permissions(place, fs::Permissions::from_mode(mode))?;
    Ok(())
}

fn done(command: &mut Command) -> Result<()> {
    said(command).map(drop)
}

/// Runs a command and returns what it prints. Fails if the command does.
fn said(command: &mut Command) -> Result<Vec<u8>> {
    let shown = format!("{command:?}");
    let output = command.stdin(Stdio::null()).output().with_context(|| shown.clone())?;
    if !output.status.success() {
        bail!("{shown} ended with {}:\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(output.stdout)
}

fn version(root: &Path) -> Result<String> {
    let manifest: toml::Table = fs::read_to_string(root.join("Cargo.toml"))?.parse()?;
    let version =
        manifest.get("workspace").and_then(|workspace| workspace.get("package")?.get("version"));
    Ok(version.and_then(toml::Value::as_str).context("the workspace has a version")?.to_owned())
}

/// Returns the newest version of the C library whose symbols the program uses, such as `2.34`.
fn libc_needed(program: &Path) -> Result<String> {
    let symbols = String::from_utf8(said(Command::new("objdump").arg("-T").arg(program))?)?;
    newest_libc(&symbols).context("the program uses the C library")
}

fn newest_libc(symbols: &str) -> Option<String> {
    let versions = symbols.split("GLIBC_").skip(1).filter_map(|rest| {
        let version =
            rest.split(|letter: char| letter != '.' && !letter.is_ascii_digit()).next()?;
        version.split('.').map(|part| part.parse().ok()).collect::<Option<Vec<u32>>>()
    });
    let newest = versions.max()?;
    Some(newest.iter().map(u32::to_string).collect::<Vec<_>>().join("."))
}

/// Returns the paths of the shared libraries that the program loads, including its loader.
fn libraries(program: &Path) -> Result<Vec<PathBuf>> {
    let list = String::from_utf8(said(Command::new("ldd").arg(program))?)?;
    Ok(paths_of(&list))
}

fn paths_of(list: &str) -> Vec<PathBuf> {
    let path =
        |line: &str| line.split_whitespace().find(|word| word.starts_with('/')).map(Into::into);
    list.lines().filter_map(path).collect()
}

/// Returns the licences of all Rust packages that are part of the program, each text once, after a
/// list of the packages.
fn licences(root: &Path) -> Result<String> {
    let tree = ["tree", "--package", "dbdyno", "--features", "agents,pictures", "--locked"];
    let normal = ["--edges", "normal", "--prefix", "none", "--format", "{p}|{l}"];
    let tree = cargo::output(root, &[&tree[..], &normal].concat())?;
    let metadata = cargo::output(root, &["metadata", "--format-version", "1", "--locked"])?;
    if !tree.status.success() || !metadata.status.success() {
        bail!("cargo does not list the packages");
    }
    let metadata: Value = serde_json::from_slice(&metadata.stdout)?;
    let mut folders = BTreeMap::new();
    for package in metadata["packages"].as_array().context("there are packages")? {
        let text = |name: &str| package[name].as_str().unwrap_or_default();
        let folder = Path::new(text("manifest_path")).parent().map(Path::to_owned);
        // Our own have no source.
        if package["source"].is_string() {
            folders.insert(format!("{} v{}", text("name"), text("version")), folder);
        }
    }
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut list = BTreeSet::new();
    for line in String::from_utf8(tree.stdout)?.lines() {
        let Some((package, licence)) = line.split_once('|') else { continue };
        // Cargo appends a path to the name of a local package, and `(*)` to a repeated line.
        let package = package.split(" (").next().unwrap_or(package);
        let licence = licence.trim_end_matches(" (*)");
        let Some(Some(folder)) = folders.get(package) else { continue };
        list.insert(format!("{package}: {licence}"));
        for text in texts_of(folder, 2)? {
            texts.entry(text).or_default().insert(package.to_owned());
        }
    }
    let mut all = "Packages that are part of dbdyno, with their licences; the texts, as the packages \
                   have them, follow. SQLite is in the public domain. Rust's standard library: MIT OR \
                   Apache-2.0.\n\n"
        .to_owned();
    all += &list.into_iter().collect::<Vec<_>>().join("\n");
    for (text, packages) in texts {
        let packages: Vec<String> = packages.into_iter().collect();
        all += &format!("\n\n{}\n{}\n\n{}", "=".repeat(80), packages.join(", "), text.trim());
    }
    Ok(all + "\n")
}

/// Returns the texts of licences in a folder and in its subfolders, down to `depth` below it.
fn texts_of(folder: &Path, depth: usize) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        if path.is_dir() {
            if depth > 0 {
                texts.extend(texts_of(&path, depth - 1)?);
            }
        } else if is_licence(&name) {
            texts.extend(fs::read(&path).ok().and_then(|bytes| String::from_utf8(bytes).ok()));
        }
    }
    Ok(texts)
}

fn is_licence(name: &str) -> bool {
    const BEGIN: [&str; 7] =
        ["license", "licence", "copying", "copyright", "notice", "unlicense", "ufl"];
    let kind = Path::new(name).extension().and_then(|kind| kind.to_str()).unwrap_or_default();
    let is_code = ["rs", "c", "h", "py", "js", "html", "toml", "json"].contains(&kind);
    !is_code && BEGIN.iter().any(|begin| name.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_of_the_c_library_is_the_one_that_is_needed() {
        let symbols = "DF *UND* 0 (GLIBC_2.2.5) read\nDF *UND* 0 (GLIBC_2.34) x\n(GLIBC_2.9) y";
        assert_eq!(newest_libc(symbols).as_deref(), Some("2.34"));
        assert_eq!(newest_libc("nothing"), None);
    }

    #[test]
    fn libraries_are_named_by_where_they_are_found() {
        let list =
            "\tlinux-vdso.so.1 (0x1)\n\tlibm.so.6 => /lib/libm.so.6 (0x2)\n\t/lib64/ld.so (0x3)";
        assert_eq!(paths_of(list), [Path::new("/lib/libm.so.6"), Path::new("/lib64/ld.so")]);
    }

    #[test]
    fn texts_of_licences_are_known_by_their_names() {
        let check = |name: &str, expect: bool| assert_eq!(is_licence(name), expect, "{name}");
        check("license-mit", true);
        check("licence.md", true);
        check("ufl.txt", true);
        check("license.rs", false);
        check("readme.md", false);
    }
}
