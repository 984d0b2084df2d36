//! `dbdyno agent manifest`: what starts agents elsewhere, to be given to the program that does.

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command};

use super::joining::{joining, options};
use crate::cli::Outcome;
use crate::shell::Shell;

/// Programs that start agents.
const KINDS: [&str; 3] = ["systemd", "ssh", "kubernetes"];

pub(super) fn command() -> Command {
    let kind = Arg::new("kind")
        .required(true)
        .value_name("KIND")
        .value_parser(PossibleValuesParser::new(KINDS))
        .help("What starts the agents");
    let command = Command::new("manifest")
        .about("Prints a systemd unit, ssh lines or a Kubernetes Job that starts agents")
        .after_help(
            "Nothing is started. The token is not in it: what is printed says where it goes.",
        )
        .arg(kind);
    joining(command)
        .arg(
            Arg::new("host")
                .long("host")
                .value_name("HOST")
                .action(ArgAction::Append)
                .help("Host for an ssh line; repeat it for more"),
        )
        .arg(
            Arg::new("count")
                .long("count")
                .value_name("N")
                .value_parser(clap::value_parser!(u32).range(1..=256))
                .default_value("3")
                .help("Number of agents of a Kubernetes Job"),
        )
        .arg(
            Arg::new("image")
                .long("image")
                .value_name("IMAGE")
                .default_value("dbdyno:latest")
                .help("Image of a Kubernetes Job, which has dbdyno"),
        )
}

pub(super) fn manifest(matches: &ArgMatches, shell: &Shell) -> Outcome {
    // Says what is wrong here, and not on the other host.
    let options = options(matches, shell)?;
    let words = join_words(matches);
    let text = match matches.get_one::<String>("kind").map(String::as_str) {
        Some("systemd") => systemd(&words),
        Some("ssh") => ssh(&words, matches),
        _ => kubernetes(&words, &options.hub.to_string(), options.hub.port, matches),
    };
    shell.print(&text)
}

/// Returns the command line of the agent without its token.
fn join_words(matches: &ArgMatches) -> Vec<String> {
    let mut words = vec!["agent".to_owned(), "join".to_owned()];
    words.extend(matches.get_one::<String>("address").cloned());
    for allowed in matches.get_many::<String>("allow").into_iter().flatten() {
        words.extend(["--allow".to_owned(), allowed.clone()]);
    }
    for (name, flag) in [
        ("restart_command", "--restart-command"),
        ("settings_file", "--settings-file"),
        ("spool", "--spool"),
    ] {
        if let Some(value) = matches.get_one::<String>(name) {
            words.extend([flag.to_owned(), value.clone()]);
        }
    }
    words
}

fn quoted(words: &[String]) -> String {
    words.iter().map(|word| render::for_shell(word)).collect::<Vec<_>>().join(" ")
}

fn systemd(words: &[String]) -> String {
    format!(
        "# /etc/systemd/system/dbdyno-agent.service\n\
         # The token: install -m 600 /dev/null /etc/dbdyno-agent.env, and write DBDYNO_TOKEN=... \
         into it.\n\
         [Unit]\n\
         Description=dbdyno agent\n\
         Wants=network-online.target\n\
         After=network-online.target\n\n\
         [Service]\n\
         ExecStart=/usr/bin/dbdyno {}\n\
         EnvironmentFile=-/etc/dbdyno-agent.env\n\
         Environment=XDG_DATA_HOME=/var/lib/dbdyno-agent\n\
         StateDirectory=dbdyno-agent\n\
         DynamicUser=yes\n\
         Restart=on-failure\n\
         RestartSec=5\n\
         LimitNOFILE=1048576\n\
         NoNewPrivileges=yes\n\
         ProtectSystem=strict\n\
         ProtectHome=yes\n\
         PrivateTmp=yes\n\n\
         [Install]\n\
         WantedBy=multi-user.target\n",
        quoted(words).replace('%', "%%")
    )
}

fn ssh(words: &[String], matches: &ArgMatches) -> String {
    let mut hosts: Vec<String> =
        matches.get_many::<String>("host").into_iter().flatten().cloned().collect();
    if hosts.is_empty() {
        hosts = vec!["HOST".to_owned()];
    }
    let line = |host: &String| {
        // The token goes through standard input, so no process list shows it.
        let remote = format!(
            "read -r DBDYNO_TOKEN; export DBDYNO_TOKEN; exec dbdyno {} --name {}",
            quoted(words),
            render::for_shell(host.rsplit('@').next().unwrap_or(host)),
        );
        format!(
            "printf '%s\\n' \"$DBDYNO_TOKEN\" | ssh {} {} &\n",
            render::for_shell(host),
            render::for_shell(&remote)
        )
    };
    let lines: String = hosts.iter().map(line).collect();
    format!("# export DBDYNO_TOKEN=... first, as 'dbdyno hub' prints it\n{lines}wait\n")
}

fn kubernetes(words: &[String], hub: &str, port: u16, matches: &ArgMatches) -> String {
    let count = matches.get_one::<u32>("count").copied().unwrap_or(1);
    let image = matches.get_one::<String>("image").map_or("", String::as_str);
    let args: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
    let args = args.join(", ");
    format!(
        "# The token: kubectl create secret generic dbdyno-agent --from-literal=token=...\n\
         # The hub ({hub}) must be reachable from the pods.\n\
         apiVersion: batch/v1\n\
         kind: Job\n\
         metadata:\n  name: dbdyno-agent\n  labels: {{ app: dbdyno-agent }}\n\
         spec:\n  completionMode: Indexed\n  completions: {count}\n  parallelism: {count}\n  \
         backoffLimit: 0\n  template:\n    metadata:\n      labels: {{ app: dbdyno-agent }}\n    \
         spec:\n      restartPolicy: Never\n      automountServiceAccountToken: false\n      \
         affinity:\n        podAntiAffinity:\n          \
         preferredDuringSchedulingIgnoredDuringExecution:\n          - weight: 100\n            \
         podAffinityTerm:\n              topologyKey: kubernetes.io/hostname\n              \
         labelSelector: {{ matchLabels: {{ app: dbdyno-agent }} }}\n      \
         containers:\n      - name: agent\n        image: {image:?}\n        \
         command: [\"dbdyno\"]\n        \
         args: [{args}, \"--name\", \"agent-$(JOB_COMPLETION_INDEX)\", \"--folder\", \
         \"/tmp/dbdyno-agent\"]\n        \
         env:\n        - name: DBDYNO_TOKEN\n          valueFrom: {{ secretKeyRef: {{ name: \
         dbdyno-agent, key: token }} }}\n        - name: JOB_COMPLETION_INDEX\n          valueFrom: \
         {{ fieldRef: {{ fieldPath: \"metadata.annotations['batch.kubernetes.io/job-completion-index']\" }} }}\n        \
         securityContext: {{ allowPrivilegeEscalation: false, runAsNonRoot: true, runAsUser: 65534, \
         capabilities: {{ drop: [ALL] }} }}\n\
         ---\n\
         apiVersion: networking.k8s.io/v1\n\
         kind: NetworkPolicy\n\
         metadata:\n  name: dbdyno-agent\n\
         spec:\n  podSelector: {{ matchLabels: {{ app: dbdyno-agent }} }}\n  \
         policyTypes: [Ingress, Egress]\n  ingress: []\n  egress:\n  - ports:\n    \
         - {{ port: 53, protocol: UDP }}\n    - {{ port: 53, protocol: TCP }}\n    \
         - {{ port: {port}, protocol: TCP }}\n  {}",
        egress(words)
    )
}

/// Returns the rules that let agents reach the servers that they may load.
fn egress(words: &[String]) -> String {
    let allowed = words.windows(2).filter(|pair| pair[0] == "--allow").map(|pair| &pair[1]);
    let ports = allowed.filter_map(|word| word.rsplit_once(':')?.1.parse::<u16>().ok());
    let rules: Vec<String> =
        ports.map(|port| format!("- ports: [{{ port: {port}, protocol: TCP }}]\n")).collect();
    match rules.is_empty() {
        true => "- {} # name ports with --allow HOST:PORT to allow no others\n".to_owned(),
        false => rules.join("  "),
    }
}
