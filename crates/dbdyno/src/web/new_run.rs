//! The page that starts jobs: a plan as a form and as TOML, with the possible actions. A plan is
//! checked as on the command line.
//!
//! Not here: the fields (plan_form), and running jobs (jobs).

use app::Error;
use app::open::is_apart_from;
use app::place::keeps_data;
use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use model::{Choice, Secret, Target, numbers};
use plan::{
    BadPlan, Draft, Task, check_from_page, decide_task, draft_to_toml, read_toml, varied_to_toml,
};
use render::for_shell;
use store::{Job, JobKind, Store};

use super::answer::{self, Frame};
use super::auth::{new_open_session, open_session};
use super::http_error::HttpError;
use super::jobs::NewJob;
use super::plan_form::{FILE, Section, draft_of, sections, shown, wrong_target};
use super::query::{Form, Pairs};
use super::visitor::{SessionId, Visitor};
use super::{App, Shared};

/// Maximum bytes of the form for a new run: twice a plan, in which a character may take nine bytes,
/// and all fields. A larger form is rejected.
pub(super) const FORM_BYTES_MAX: usize = 512 * 1024;
/// Maximum bytes of a plan in TOML; a larger one is rejected.
const PLAN_BYTES_MAX: usize = 64 * 1024;

#[derive(Template)]
#[template(path = "web/new_run.html")]
struct NewRunPage {
    frame: Frame,
    workloads: Vec<Named>,
    target: String,
    default_target: String,
    has_password: bool,
    vary: String,
    server: String,
    labels: String,
    labels_wrong: String,
    target_wrong: String,
    sections: Vec<Section>,
    toml: String,
    was: String,
    /// Error of the plan, to be shown on the page; empty if there is none.
    wrong: String,
    /// Kind of task that a valid plan is: a run, an experiment or a search; empty for an invalid
    /// plan.
    kind: &'static str,
    /// Description of the loads of a single run, such as `closed` or the rate and queue of open
    /// load; empty for an experiment or a search.
    load: String,
    commands: Vec<Command>,
}

struct Named {
    name: &'static str,
    is_chosen: bool,
}

/// Command for a terminal that is equivalent to an action on the page.
pub(super) struct Command {
    /// Purpose of the command. `Run` stands for a run, an experiment or a search.
    pub(super) kind: JobKind,
    pub(super) text: String,
}

impl Command {
    /// Returns the label of the command on a page.
    pub(super) fn title(&self) -> &'static str {
        match self.kind {
            JobKind::Build => "Build",
            JobKind::Check => "Check the data",
            JobKind::Drop => "Drop the data",
            JobKind::Run | JobKind::Experiment | JobKind::Seek => "Run",
            JobKind::Resume => "Resume",
        }
    }
}

/// `GET /new`: the page with an initial plan, that of `workload=NAME`, `run=ID`, `experiment=ID` or
/// `job=NUMBER`.
pub(super) async fn page(
    State(app): State<App>,
    visitor: Visitor,
    asked: Pairs,
) -> Result<Response, HttpError> {
    app.read(move |store, shared| {
        let (draft, labels) = begun(store, shared, &asked)?;
        let toml = draft_to_toml(&draft);
        let wrong = checked(&draft, shared).err();
        shown_page(shared, &visitor, &draft, toml, wrong.as_ref(), &labels)
    })
    .await
}

/// Returns the initial plan that a request names, and labels, one per line. Only a job has labels,
/// since they are not part of a plan.
fn begun(store: &Store, shared: &Shared, asked: &Pairs) -> Result<(Draft, String), HttpError> {
    let read = |text: &str| read_toml(FILE, text).map_err(|bad| HttpError::bad(bad.0));
    if let Some(name) = asked.get("run") {
        let plan = store.plan(&store.find(name)?)?;
        return Ok((read(&plan)?.without_defaults(), String::new()));
    }
    if let Some(name) = asked.get("experiment") {
        let experiment = store.find_experiment(name)?;
        let plan = varied_to_toml(&experiment).ok_or_else(|| {
            HttpError::bad(
                "no plan can repeat this experiment: it has commands, or its points differ in \
                 more than the varied values; begin with one of its runs",
            )
        })?;
        return Ok((read(&plan)?.without_defaults(), String::new()));
    }
    if let Some(number) = asked.get("job").and_then(|number| number.parse().ok()) {
        let job = store.job(number)?;
        let job = job.ok_or_else(|| HttpError::unknown(format!("there is no job {number}")))?;
        return Ok((read(&job.job.plan)?, labels_of(&job.job.words).join("\n")));
    }
    Ok((of_workload(asked.get("workload").unwrap_or("tpcc"), shared)?, String::new()))
}

/// Creates the plan of `dbdyno run WORKLOAD`, without defaults. A web page must not name files, so
/// neither plan files nor workload files are accepted.
fn of_workload(name: &str, shared: &Shared) -> Result<Draft, Error> {
    if !workloads::is_compiled_in(name) {
        return Err(Error::Usage(format!("a page knows no workload '{name}'")));
    }
    let words = ["dbdyno", "run", name].map(str::to_owned);
    // Defaults are left out.
    Ok((shared.job_context.draft_of)(&words, &shared.shell)?.without_defaults())
}

/// Decides whether a plan is a run, an experiment or a search. Fails if the plan is invalid, or if
/// a page may not start it.
fn checked(draft: &Draft, shared: &Shared) -> Result<Task, BadPlan> {
    check_from_page(draft, shared.job_context.folder.as_deref())?;
    decide_task(draft, &|workload| (shared.job_context.target_of)(workload, &shared.shell))
}

fn kind_of(task: &Task) -> JobKind {
    match task {
        Task::Run(_) => JobKind::Run,
        Task::Experiment(_) | Task::Tuning(_) => JobKind::Experiment,
        Task::Search(_) => JobKind::Seek,
    }
}

/// Returns the loads of the groups of a run in words, without duplicates; empty for an experiment
/// or a search.
fn load_of(task: &Task) -> String {
    let Task::Run(plan) = task else { return String::new() };
    let mut all: Vec<String> = Vec::new();
    for load in plan.groups.iter().map(|group| numbers::load(&group.load)) {
        if !all.contains(&load) {
            all.push(load);
        }
    }
    all.join("; ")
}

/// Returns the target of a plan: the first one if targets are varied, and the workload's default if
/// it names none.
fn target_of(draft: &Draft, shared: &Shared) -> Result<Target, HttpError> {
    let of_axis =
        draft.vary.iter().find(|axis| matches!(axis.name.as_str(), "target" | "target.url"));
    let of_axis = of_axis.and_then(|axis| axis.values.first()).cloned();
    let url = Some(shown(draft, "plan.target")).filter(|url| !url.is_empty()).or(of_axis);
    let workload = draft.groups.first().map(shown_workload).unwrap_or_default();
    let target = match url {
        Some(url) => Target::parse(&url).map_err(|bad| bad.0),
        None => (shared.job_context.target_of)(&workload, &shared.shell),
    };
    target.map_err(HttpError::bad)
}

/// Takes the password out of the plan's target, so that the password is neither shown nor stored,
/// and returns it; `None` if the target has none. Fails if a varied target has one.
fn without_password(draft: &mut Draft) -> Result<Option<Secret>, BadPlan> {
    for axis in &draft.vary {
        let has_password = |url: &String| Target::parse(url).is_ok_and(|it| it.password.is_some());
        if axis.values.iter().any(has_password) {
            let why = "leave passwords out of its URLs: type one into the field 'Password'";
            return Err(axis.from.bad(format!("{}: {why}", axis.name)));
        }
    }
    let Some(written) = draft.values.get_mut("target") else { return Ok(None) };
    let Ok(target) = Target::parse(&written.text) else { return Ok(None) };
    let Some(password) = target.password.clone() else { return Ok(None) };
    written.text = target.to_string();
    Ok(Some(password))
}

/// Action that a button of the form requests for the plan in the form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlanAction {
    /// Shows the plan of the form again after checking it.
    Show,
    Run,
    Build,
    Check,
    Drop,
}

model::choice!(PlanAction {
    Show = "show",
    Run = "run",
    Build = "build",
    Check = "check",
    Drop = "drop",
});

/// `POST /new`: shows the plan with its changes, or starts a job with it.
pub(super) async fn asked(
    State(app): State<App>,
    visitor: Visitor,
    Form(form): Form,
) -> Result<Response, HttpError> {
    app.read(move |store, shared| {
        let action = form.get("do").and_then(PlanAction::by_name).unwrap_or(PlanAction::Show);
        if form.exactly("toml").is_some_and(|toml| toml.len() > PLAN_BYTES_MAX) {
            let text = format!("the plan is longer than {PLAN_BYTES_MAX} bytes");
            return Err(HttpError::new(StatusCode::PAYLOAD_TOO_LARGE, text));
        }
        let (mut draft, mut is_changed, mut wrong) = draft_of(&form);
        if let Some(name) = other_workload(&form, &draft) {
            draft = of_other_workload(draft, name, shared)?;
            is_changed = true;
        }
        let password = match without_password(&mut draft) {
            Ok(password) => password,
            Err(bad) => {
                wrong = wrong.or(Some(bad));
                None
            }
        };
        is_changed |= password.is_some();
        let password = typed_password(&form).or(password);
        let is_readable = wrong.is_none();
        let task = match wrong {
            Some(bad) => Err(bad),
            None => checked(&draft, shared),
        };
        let mut visitor = visitor;
        let cookie = remembered(shared, &mut visitor, &draft, password)?;
        let toml = match is_changed && is_readable {
            true => draft_to_toml(&draft),
            // The user's text stays unchanged, including comments, unless a field was changed.
            false => form.exactly("toml").unwrap_or_default().replace("\r\n", "\n"),
        };
        let asked = Asked { store, shared, visitor: &visitor, draft: &draft, form: &form };
        let mut response = match (task, action) {
            (Ok(task), action) if action != PlanAction::Show => asked.work(&task, action)?,
            (task, action) => asked.look(task.err(), toml, action)?,
        };
        if let Some(cookie) = cookie {
            open_session(&mut response, &cookie);
        }
        Ok(response)
    })
    .await
}

/// Submitted form with its plan, and all that a response to it needs.
struct Asked<'a> {
    store: &'a Store,
    shared: &'a Shared,
    visitor: &'a Visitor,
    draft: &'a Draft,
    form: &'a Pairs,
}

impl Asked<'_> {
    /// Starts the job of a button and redirects to the page of the job. Shows the plan again if the
    /// request is invalid.
    fn work(&self, task: &Task, action: PlanAction) -> Result<Response, HttpError> {
        let Asked { store, shared, visitor, draft, form } = self;
        match start(store, shared, visitor, draft, task, action, form) {
            Ok(number) => Ok(Redirect::to(&format!("/jobs/{number}")).into_response()),
            Err(no) if no.status == StatusCode::BAD_REQUEST => {
                let bad = BadPlan(no.text);
                Ok(refused(self.shown(draft_to_toml(draft), Some(&bad))?))
            }
            Err(no) => Err(no),
        }
    }

    /// Shows the plan of the form again, with its error if it has one. The status is 400, unless
    /// the action is only to show the plan.
    fn look(
        &self,
        bad: Option<BadPlan>,
        toml: String,
        action: PlanAction,
    ) -> Result<Response, HttpError> {
        // A run would reject them too.
        let bad_labels = || labels(self.form).err().map(|no| BadPlan(no.text));
        let page = self.shown(toml, bad.or_else(bad_labels).as_ref())?;
        // A plan that is only shown may be invalid.
        Ok(if action == PlanAction::Show { page } else { refused(page) })
    }

    fn shown(&self, toml: String, bad: Option<&BadPlan>) -> Result<Response, HttpError> {
        let labels = typed_labels(self.form);
        shown_page(self.shared, self.visitor, self.draft, toml, bad, labels)
    }
}

/// Sets the status 400 for the page of a plan that cannot be started.
fn refused(mut page: Response) -> Response {
    *page.status_mut() = StatusCode::BAD_REQUEST;
    page
}

/// Returns the workload that the user has newly chosen in the form; `None` if the choice is the
/// workload with which the form was shown, or the plan's own.
fn other_workload<'a>(form: &'a Pairs, draft: &Draft) -> Option<&'a str> {
    let chosen = form.get("workload")?;
    let was = read_toml(FILE, form.exactly("was").unwrap_or_default()).unwrap_or_default();
    let first_workload = |draft: &Draft| Some(draft.groups.first()?.workload()?.text.clone());
    let is_chosen = first_workload(&was).as_deref() != Some(chosen)
        && first_workload(draft).as_deref() != Some(chosen);
    is_chosen.then_some(chosen)
}

/// Replaces the groups of a plan by the default ones of another workload. A single group keeps the
/// number of clients.
fn of_other_workload(mut draft: Draft, name: &str, shared: &Shared) -> Result<Draft, HttpError> {
    let clients = draft.groups.first().and_then(|group| group.values.get("clients")).cloned();
    draft.groups = of_workload(name, shared)?.groups;
    if let ([group], Some(clients)) = (draft.groups.as_mut_slice(), clients) {
        group.values.insert("clients", clients);
    }
    Ok(draft)
}

/// Remembers a typed password for this session and the plan's target. Returns the cookie of the
/// session if a new one had to be created, else `None`.
fn remembered(
    shared: &Shared,
    visitor: &mut Visitor,
    draft: &Draft,
    password: Option<Secret>,
) -> Result<Option<String>, HttpError> {
    let Some(password) = password else { return Ok(None) };
    let url = shown(draft, "plan.target");
    let Ok(target) = Target::parse(&url) else { return Ok(None) };
    let (cookie, session): (Option<String>, SessionId) = match visitor.session {
        Some(session) => (None, session),
        None => {
            let (cookie, session) = new_open_session()?;
            (Some(cookie), session)
        }
    };
    visitor.session = Some(session);
    shared.passwords.remember(session, &target, &password);
    // With HTTP Basic there is no session to remember it.
    Ok(cookie.filter(|_| shared.auth.is_none()))
}

/// Starts the job of an action on a plan, stores the start as the user's action, and returns the
/// number of the job.
fn start(
    store: &Store,
    shared: &Shared,
    visitor: &Visitor,
    draft: &Draft,
    task: &Task,
    action: PlanAction,
    form: &Pairs,
) -> Result<i64, HttpError> {
    let kind = match action {
        PlanAction::Build => JobKind::Build,
        PlanAction::Check => JobKind::Check,
        PlanAction::Drop => JobKind::Drop,
        PlanAction::Run | PlanAction::Show => kind_of(task),
    };
    if action == PlanAction::Drop && form.get("sure") != Some("yes") {
        return Err(HttpError::bad("tick 'Drop the tables and all their rows' first"));
    }
    let target = target_of(draft, shared)?;
    is_apart_from(Some(&shared.store), &target)?;
    if matches!(action, PlanAction::Check | PlanAction::Drop) && !keeps_data(&target) {
        let what = kind.name();
        let text = format!("{target} keeps no data after a run: there is nothing to {what}");
        return Err(HttpError::bad(text));
    }
    let mut words = match action {
        PlanAction::Run | PlanAction::Show => ["run", "-"].map(str::to_owned).to_vec(),
        _ => words_of_data(draft, kind.name(), Some(&target))
            .ok_or_else(|| HttpError::bad("the plan has no group: nothing to do"))?,
    };
    if matches!(action, PlanAction::Run | PlanAction::Build) {
        words.extend(words_of_labels(&labels(form)?));
    }
    let workload = draft.groups.first().map(shown_workload).unwrap_or_default();
    let job = Job {
        kind,
        name: draft.values.get("name").map_or(workload, |name| name.text.clone()),
        target: target.to_string(),
        words,
        plan: draft_to_toml(draft),
        who: visitor.who(),
    };
    let what = format!("started {} {} on {}", kind.name(), job.name, job.target);
    let password = shared.passwords.find(visitor.session.as_ref(), &target);
    let number = shared.jobs.start(NewJob { job, password })?;
    store.note_action(&visitor.who(), &format!("{what} as job {number}"))?;
    Ok(number)
}

fn shown_workload(group: &plan::GroupDraft) -> String {
    group.workload().map_or(String::new(), |workload| workload.text.clone())
}

/// Returns the arguments of `dbdyno build` and similar commands, for the data of a plan's first
/// group; `None` if the group has no known workload.
fn words_of_data(draft: &Draft, command: &str, target: Option<&Target>) -> Option<Vec<String>> {
    let group = draft.groups.first()?;
    let workload = &group.workload()?.text;
    let entry = workloads::by_name(workload).ok()?;
    let mut words = vec![command.to_owned(), workload.clone()];
    let mut put = |name: &str, value: &str| {
        words.extend([format!("--{}", name.replace('_', "-")), value.to_owned()]);
    };
    if let Some(target) = target {
        put("target", &target.to_string());
    }
    if let Some(seed) = draft.values.get("seed") {
        put("seed", &seed.text);
    }
    let shapes =
        |name: &str| entry.parameters.iter().any(|row| row.name == name && row.shapes_data);
    for (name, written) in group.parameters.iter().filter(|(name, _)| shapes(name)) {
        put(name, &written.text);
    }
    Some(words)
}

/// Returns the password of the database in a form; `None` if its field is empty.
pub(super) fn typed_password(form: &Pairs) -> Option<Secret> {
    form.exactly("password").filter(|typed| !typed.is_empty()).map(Secret::new)
}

fn typed_labels(form: &Pairs) -> &str {
    form.get("labels").unwrap_or_default()
}

/// Returns the lines of a field for labels, without blank ones.
fn written_labels(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

/// Returns the arguments of a command that set these labels. [`labels_of`] is the inverse.
fn words_of_labels(labels: &[String]) -> Vec<String> {
    labels.iter().flat_map(|label| ["--label".to_owned(), label.clone()]).collect()
}

/// Returns the labels in the arguments of a job.
pub(super) fn labels_of(words: &[String]) -> Vec<String> {
    let pairs = words.windows(2).filter(|pair| pair[0] == "--label");
    pairs.map(|pair| pair[1].clone()).collect()
}

/// Returns the labels of a form, one per line. Fails if one is invalid.
fn labels(form: &Pairs) -> Result<Vec<String>, HttpError> {
    read_labels(typed_labels(form))
}

/// Parses labels, one `key=value` per line. Fails if one is invalid.
fn read_labels(text: &str) -> Result<Vec<String>, HttpError> {
    let lines = written_labels(text);
    let checked = |line: String| match line.split_once('=') {
        Some((key, value)) if !value.is_empty() => match store::why_no_label(key, value) {
            None => Ok(line.clone()),
            Some(why) => Err(HttpError::bad(format!("'{line}' is not a label: {why}"))),
        },
        _ => Err(HttpError::bad(format!("'{line}' is not a label: write key=value"))),
    };
    lines.into_iter().map(checked).collect()
}

/// Returns the commands for a terminal that are equivalent to the actions on a plan, with these
/// labels.
pub(super) fn commands(draft: &Draft, labels: &[String]) -> Vec<Command> {
    let has_user = Target::parse(&shown(draft, "plan.target")).is_ok_and(|it| it.user.is_some());
    let line = |words: Vec<String>| {
        let ask = has_user.then(|| "--ask-password".to_owned());
        let words = words.iter().chain(&ask).map(|word| for_shell(word));
        format!("dbdyno {}", words.collect::<Vec<_>>().join(" "))
    };
    let labels = words_of_labels(labels);
    let run = draft.words().map(|words| [vec!["run".to_owned()], words].concat());
    let run = run.unwrap_or_else(|| ["run", FILE].map(str::to_owned).to_vec());
    let run = [run, labels.clone()].concat();
    let target = Target::parse(&shown(draft, "plan.target")).ok();
    let data = [JobKind::Build, JobKind::Check, JobKind::Drop];
    let data = data.into_iter().filter_map(|kind| {
        let mut words = words_of_data(draft, kind.name(), target.as_ref())?;
        if kind == JobKind::Build {
            words.extend(labels.iter().cloned());
        }
        Some(Command { kind, text: line(words) })
    });
    [Command { kind: JobKind::Run, text: line(run) }].into_iter().chain(data).collect()
}

fn shown_page(
    shared: &Shared,
    visitor: &Visitor,
    draft: &Draft,
    toml: String,
    wrong: Option<&BadPlan>,
    labels: &str,
) -> Result<Response, HttpError> {
    let workload = draft.groups.first().map(shown_workload).unwrap_or_default();
    let named = |name: &'static str| Named { name, is_chosen: name == workload };
    let url = shown(draft, "plan.target");
    let target = Target::parse(&url).ok();
    let default = (shared.job_context.target_of)(&workload, &shared.shell);
    let known = target.as_ref().map(|it| shared.passwords.find(visitor.session.as_ref(), it));
    let task = wrong.is_none().then(|| checked(draft, shared).ok()).flatten();
    answer::page(&NewRunPage {
        frame: Frame::new("New run", "new", visitor),
        workloads: workloads::all().map(|entry| named(entry.name)).collect(),
        target: url,
        default_target: default.map(|target| target.to_string()).unwrap_or_default(),
        has_password: known.flatten().is_some(),
        vary: shown(draft, "vary"),
        server: shown(draft, "server"),
        labels: labels.to_owned(),
        labels_wrong: read_labels(labels).err().map(|bad| bad.text).unwrap_or_default(),
        target_wrong: wrong_target(draft, wrong),
        sections: sections(draft, wrong),
        was: draft_to_toml(draft),
        toml,
        wrong: wrong.map_or(String::new(), |bad| bad.0.clone()),
        kind: task.as_ref().map_or("", |task| kind_of(task).name()),
        load: task.as_ref().map(load_of).unwrap_or_default(),
        commands: commands(draft, &written_labels(labels)),
    })
}
