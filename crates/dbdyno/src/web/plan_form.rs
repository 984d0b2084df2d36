//! Form of a plan: its fields, derived from the tables of parameters, and how fields and TOML
//! become one draft.
//!
//! The user may change both. The form also sends the page's original TOML, which has the original
//! value of each field. So a changed field overrides the TOML, and an unchanged field does not. Not
//! here: actions on a plan (`new_run`).

use app::stored_report::SIZES;
use model::{Parameter, ParameterKind, Target};
use plan::{
    BadPlan, Draft, EXPERIMENT, From, GroupDraft, PLAN, VaryDraft, Written, group_flags, read_toml,
};

use super::query::Pairs;

/// Name of the plan's file in errors.
pub(super) const FILE: &str = "plan.toml";
/// Parameters of a plan in the first section of the form, in this order; `true` for those shown at
/// once, `false` for those under "More".
const OFTEN: [(&str, bool); 4] =
    [("duration", true), ("ramp_up", true), ("name", false), ("seed", false)];
/// Parameter of an experiment that the first section of the form shows too.
const REPEAT: &str = "repeat";
/// Parameters of a group of clients that the form shows at once, not under "More".
const OFTEN_OF_GROUP: [&str; 3] = ["clients", "load", "rate"];
/// Parameters of a workload that the form shows at once, together with the size of its data.
const OFTEN_OF_WORKLOAD: [&str; 2] = ["mode", "index"];

/// Field of the plan's form, for one parameter.
pub(super) struct Field {
    /// Name of the field in the form, such as `group.0.clients`.
    pub(super) key: String,
    pub(super) title: String,
    pub(super) help: &'static str,
    pub(super) value: String,
    /// Value that is used if the field of the form is empty.
    pub(super) default: &'static str,
    /// Values to choose from; empty for a text field.
    pub(super) choices: Vec<Choice>,
    /// Error of the field's value, to be shown at the field; empty if there is none.
    pub(super) wrong: String,
}

/// A value that can be chosen in a field of the plan's form.
pub(super) struct Choice {
    pub(super) name: &'static str,
    pub(super) is_chosen: bool,
}

/// Section of the plan's form, with a title.
pub(super) struct Section {
    pub(super) title: String,
    /// True if the section of the form is unfolded at first.
    pub(super) is_open: bool,
    pub(super) fields: Vec<Field>,
    /// Fields of less common parameters, shown under "More".
    pub(super) rare: Vec<Field>,
}

/// Fields of a section of the plan's form that are shown together: at once, or under "More".
pub(super) struct Part<'s> {
    /// True if the fields are folded under "More".
    pub(super) is_folded: bool,
    /// True if this part of the form is unfolded at first, because a field has a value or an error.
    pub(super) is_open: bool,
    pub(super) fields: &'s [Field],
}

impl Section {
    /// Returns the parts of the form's section that have fields; the folded part is the last.
    pub(super) fn parts(&self) -> Vec<Part<'_>> {
        let is_used = |field: &Field| !field.value.is_empty() || !field.wrong.is_empty();
        let rare =
            Part { is_folded: true, is_open: self.rare.iter().any(is_used), fields: &self.rare };
        let often = Part { is_folded: false, is_open: true, fields: &self.fields };
        [often, rare].into_iter().filter(|part| !part.fields.is_empty()).collect()
    }

    #[cfg(test)]
    fn into_fields(self) -> impl Iterator<Item = Field> {
        self.fields.into_iter().chain(self.rare)
    }
}

/// Returns the sections of the form with all fields of a draft. The error `wrong` is shown at the
/// field that it names.
pub(super) fn sections(draft: &Draft, wrong: Option<&BadPlan>) -> Vec<Section> {
    let section = |title: &str, is_open, fields| Section {
        title: title.to_owned(),
        is_open,
        fields,
        rare: Vec::new(),
    };
    // If no field is used often, show all.
    let with_rare = |title: &str, is_open, all: Vec<(bool, Field)>| {
        let (mut fields, mut rare) = (Vec::new(), Vec::new());
        for (is_often, field) in all {
            if is_often { fields.push(field) } else { rare.push(field) }
        }
        match fields.is_empty() {
            true => section(title, is_open, rare),
            false => Section { rare, ..section(title, is_open, fields) },
        }
    };
    let field = |prefix: &str, row: &'static Parameter| field_of(draft, prefix, row, wrong);
    let plan = || PLAN.iter().map(|row| &row.parameter).filter(|row| row.name != "target");
    let is_often = |row: &&Parameter| OFTEN.iter().any(|(name, _)| *name == row.name);
    let experiment = || EXPERIMENT.iter().map(|row| &row.parameter);
    let repeats = experiment().filter(|row| row.name == REPEAT);
    let repeats = repeats.map(|row| (true, field("experiment", row)));
    let of_plan = OFTEN.iter().filter_map(|(name, is_shown)| {
        let row = plan().find(|row| row.name == *name)?;
        Some((*is_shown, field("plan", row)))
    });
    let often = of_plan.chain(repeats).collect();
    let mut all = Vec::new();
    for (index, group) in draft.groups.iter().enumerate() {
        let workload = group.workload().map_or("", |workload| workload.text.as_str());
        let name = group.values.get("name").map_or(workload, |name| name.text.as_str());
        let of_group = if draft.groups.len() > 1 { format!(" of {name}") } else { String::new() };
        let load = group_flags()
            .map(|row| (OFTEN_OF_GROUP.contains(&row.name), field(&format!("group.{index}"), row)));
        all.push(with_rare(&format!("Clients and load{of_group}"), index == 0, load.collect()));
        let table = workloads::by_name(workload).map(|entry| entry.parameters).unwrap_or_default();
        let rows = table.iter().map(|row| {
            let is_often = SIZES.contains(&row.name) || OFTEN_OF_WORKLOAD.contains(&row.name);
            (is_often, field(&format!("parameter.{index}"), row))
        });
        all.push(with_rare(&format!("Workload {workload}{of_group}"), index == 0, rows.collect()));
    }
    all.insert(0, with_rare("Time and repeats", true, often));
    let rest = plan().filter(|row| !is_often(row)).map(|row| field("plan", row)).collect();
    all.push(section("More of the plan", false, rest));
    let is_asked = draft.experiment.keys().any(|name| *name != REPEAT);
    let others = experiment().filter(|row| row.name != REPEAT);
    let others = others.map(|row| field("experiment", row)).collect();
    all.push(section("Experiments and searches", is_asked, others));
    all.retain(|section| !section.fields.is_empty());
    all
}

fn field_of(
    draft: &Draft,
    prefix: &str,
    row: &'static Parameter,
    wrong: Option<&BadPlan>,
) -> Field {
    let key = format!("{prefix}.{}", row.name);
    let value = shown(draft, &key);
    let names: &[&'static str] = match row.kind {
        ParameterKind::Choice(names) => names,
        ParameterKind::Switch => &["true", "false"],
        _ => &[],
    };
    let is_chosen = |name: &&'static str| match row.kind {
        ParameterKind::Switch => {
            model::parse_switch(&value).is_ok_and(|is_on| is_on == (*name == "true"))
        }
        _ => **name == value,
    };
    // An invalid value stays visible.
    let is_known = value.is_empty() || names.iter().any(is_chosen);
    let choice = |name: &&'static str| Choice { name, is_chosen: is_chosen(name) };
    let choices = if is_known { names.iter().map(choice).collect() } else { Vec::new() };
    // The plan reports only its first error, so each field is also checked separately.
    let alone = || row.parse(&value).err().filter(|_| !value.is_empty()).map(|bad| bad.to_string());
    let wrong = wrong.filter(|bad| is_about(&bad.0, row)).map(|bad| bad.0.clone());
    let wrong = wrong.or_else(alone).unwrap_or_default();
    let title = row.name.replace('_', " ");
    Field { key, title, help: row.help, default: row.default, choices, wrong, value }
}

/// Returns the error of the draft's target: the plan's error `wrong` if it names the target, or
/// that of its URL; empty if there is none.
pub(super) fn wrong_target(draft: &Draft, wrong: Option<&BadPlan>) -> String {
    let row = PLAN.iter().map(|row| &row.parameter).find(|row| row.name == "target");
    let named = wrong.filter(|bad| row.is_some_and(|row| is_about(&bad.0, row)));
    let url = shown(draft, "plan.target");
    let alone = || Target::parse(&url).err().filter(|_| !url.is_empty()).map(|bad| bad.to_string());
    named.map(|bad| bad.0.clone()).or_else(alone).unwrap_or_default()
}

/// Returns true if an error names this parameter: as a flag, or after its place in the plan's file.
fn is_about(why: &str, row: &Parameter) -> bool {
    let in_file = why.strip_prefix(FILE).is_some_and(|rest| {
        let rest = rest.trim_start_matches(|c: char| c == ':' || c.is_ascii_digit());
        rest.trim_start().starts_with(&format!("{}:", row.name))
    });
    in_file || why.starts_with(&format!("--{}:", row.flag()))
}

/// Returns the varied parameters of a draft with their values, one per line.
pub(super) fn axes(draft: &Draft) -> String {
    let line = |axis: &VaryDraft| format!("{}={}", axis.name, axis.values.join(","));
    draft.vary.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns the server settings of a draft, one per line.
fn settings(draft: &Draft) -> String {
    let line = |(name, written): &(String, Written)| format!("{name}={}", written.text);
    draft.server.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns the value of a form field in a draft; empty if it has none.
pub(super) fn shown(draft: &Draft, key: &str) -> String {
    let text = |written: Option<&Written>| written.map(|written| written.text.clone());
    let found = match parts(key) {
        Some(("plan", None, name)) => text(draft.values.get(name)),
        Some(("experiment", None, name)) => text(draft.experiment.get(name)),
        Some(("group", Some(index), name)) => {
            draft.groups.get(index).and_then(|group| text(group.values.get(name)))
        }
        Some(("parameter", Some(index), name)) => draft.groups.get(index).and_then(|group| {
            text(group.parameters.iter().find(|(known, _)| known == name).map(|(_, it)| it))
        }),
        _ if key == "vary" => Some(axes(draft)),
        _ if key == "server" => Some(settings(draft)),
        _ => None,
    };
    found.unwrap_or_default()
}

/// Splits the key of a field into table, index of the group (`None` for others), and name. `None`
/// for another kind of field.
fn parts(key: &str) -> Option<(&str, Option<usize>, &str)> {
    let (table, rest) = key.split_once('.')?;
    match table {
        "plan" | "experiment" => Some((table, None, rest)),
        "group" | "parameter" => {
            let (index, name) = rest.split_once('.')?;
            Some((table, Some(index.parse().ok()?), name))
        }
        _ => None,
    }
}

/// Merges the TOML of a form with the fields that were changed. Also returns whether a field was
/// changed, and the first error. If the TOML cannot be parsed, the draft is the page's original
/// one.
pub(super) fn draft_of(form: &Pairs) -> (Draft, bool, Option<BadPlan>) {
    let text = |name: &str| form.exactly(name).unwrap_or_default().replace("\r\n", "\n");
    let was = read_toml(FILE, &text("was")).unwrap_or_default();
    let mut draft = match read_toml(FILE, &text("toml")) {
        Ok(draft) => draft,
        Err(bad) => return (was, false, Some(bad)),
    };
    let mut is_changed = false;
    for (key, value) in &form.0 {
        let value = value.replace("\r\n", "\n").trim().to_owned();
        if shown(&was, key).trim() == value {
            continue;
        }
        match put(&mut draft, key, &value) {
            Ok(is_put) => is_changed |= is_put,
            Err(bad) => return (draft, is_changed, Some(bad)),
        }
    }
    (draft, is_changed, None)
}

/// Sets a field in a draft, or removes it if `value` is empty. Returns false if a plan has no such
/// field.
fn put(draft: &mut Draft, key: &str, value: &str) -> Result<bool, BadPlan> {
    let known = |name: &str| -> Option<&'static str> {
        let all = PLAN.iter().map(|row| &row.parameter);
        let all = all.chain(EXPERIMENT.iter().map(|row| &row.parameter)).chain(group_flags());
        all.map(|row| row.name).find(|row| *row == name)
    };
    let written = |name: &str| Written::new(value, From::Flag(name.replace('_', "-")));
    match parts(key) {
        Some(("plan", None, name)) => put_value(&mut draft.values, known(name), written(name)),
        Some(("experiment", None, name)) => {
            put_value(&mut draft.experiment, known(name), written(name));
        }
        Some(("group", Some(index), name)) => {
            let Some(group) = draft.groups.get_mut(index) else { return Ok(false) };
            put_value(&mut group.values, known(name), written(name));
        }
        Some(("parameter", Some(index), name)) => {
            let Some(group) = draft.groups.get_mut(index) else { return Ok(false) };
            put_parameter(group, name, written(name));
        }
        _ if key == "vary" => {
            let lines = value.lines().map(str::trim).filter(|line| !line.is_empty());
            draft.vary = lines.map(VaryDraft::read).collect::<Result<_, _>>()?;
        }
        _ if key == "server" => draft.server = settings_of(value)?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn put_value(values: &mut plan::Values, name: Option<&'static str>, written: Written) {
    let Some(name) = name else { return };
    match written.text.is_empty() {
        true => drop(values.remove(name)),
        false => drop(values.insert(name, written)),
    }
}

fn put_parameter(group: &mut GroupDraft, name: &str, written: Written) {
    group.parameters.retain(|(known, _)| known != name);
    if !written.text.is_empty() {
        group.parameters.push((name.to_owned(), written));
    }
}

fn settings_of(text: &str) -> Result<Vec<(String, Written)>, BadPlan> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let setting = |line: &str| match line.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            let written = Written::new(value.trim(), From::Flag("server".to_owned()));
            Ok((name.trim().to_owned(), written))
        }
        _ => Err(BadPlan(format!("server: '{line}' is not a setting: write name=value"))),
    };
    lines.map(setting).collect()
}

#[cfg(test)]
mod tests {
    use plan::draft_to_toml;

    use super::*;

    const WAS: &str = "duration = \"5s\"\n\n[[group]]\nworkload = \"tpcc\"\nclients = 2\n";

    fn merged(toml: &str, fields: &[(&str, &str)]) -> (String, Option<String>) {
        let given = [("was", WAS), ("toml", toml)];
        let pairs = given.iter().chain(fields).map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        let (draft, _, bad) = draft_of(&Pairs(pairs.collect()));
        (draft_to_toml(&draft), bad.map(|bad| bad.0))
    }

    #[test]
    fn what_was_changed_in_the_form_or_in_the_toml_counts() {
        let shown = [("plan.duration", "5s"), ("group.0.clients", "2"), ("plan.seed", "")];
        assert_eq!(merged(WAS, &shown).0, WAS);
        let edited = WAS.replace("5s", "9s");
        assert_eq!(merged(&edited, &shown).0, edited);
        let both = merged(&edited, &[("plan.duration", "5s"), ("group.0.clients", "8")]).0;
        assert_eq!(both, edited.replace("clients = 2", "clients = 8"));
        let fewer = merged(WAS, &[("plan.duration", ""), ("parameter.0.warehouses", "3")]).0;
        assert_eq!(
            fewer,
            "[[group]]\nworkload = \"tpcc\"\nclients = 2\n[group.parameters]\nwarehouses = 3\n"
        );
        let varied = merged(WAS, &[("vary", "clients=1,2\r\n\r\nmode=text,batched\r\n")]).0;
        assert!(
            varied
                .ends_with("[experiment.vary]\nclients = [1, 2]\nmode = [\"text\", \"batched\"]\n")
        );
    }

    #[test]
    fn toml_that_cannot_be_read_is_reported_with_its_line() {
        let (_, bad) = merged("duration = 5s", &[]);
        assert!(bad.as_deref().is_some_and(|bad| bad.starts_with("plan.toml:1:")), "{bad:?}");
        let (_, bad) = merged(WAS, &[("vary", "nonsense")]);
        assert!(bad.as_deref().is_some_and(|bad| bad.starts_with("--vary: ")), "{bad:?}");
    }

    #[test]
    fn an_error_stands_at_its_field_with_the_sentence_of_the_command_line() {
        let fields = |bad: &str| {
            let draft = read_toml(FILE, WAS).unwrap();
            let all = sections(&draft, Some(&BadPlan(bad.to_owned())));
            let all = all.into_iter().flat_map(Section::into_fields);
            all.filter(|field| !field.wrong.is_empty()).map(|field| field.key).collect::<Vec<_>>()
        };
        assert_eq!(fields("--clients: 0 is too small"), ["group.0.clients"]);
        assert_eq!(fields("plan.toml:5:11: clients: 0 is too small"), ["group.0.clients"]);
        assert_eq!(fields("plan.toml:5:11: nonsense"), Vec::<String>::new());
    }

    /// Checks that each invalid field shows an error, although the plan reports only its first
    /// error.
    #[test]
    fn each_wrong_field_says_why() {
        let text = "target = \"nobody\"\nduration = 5\n[[group]]\nworkload = \"tpcc\"\n\
                    clients = -3\nparameters = { warehouses = \"x\" }\n";
        let draft = read_toml(FILE, text).unwrap();
        let all = sections(&draft, None).into_iter().flat_map(Section::into_fields);
        let wrong = all.filter(|field| !field.wrong.is_empty()).map(|field| field.key);
        let mut wrong: Vec<String> = wrong.collect();
        wrong.sort();
        assert_eq!(wrong, ["group.0.clients", "parameter.0.warehouses", "plan.duration"]);
        assert!(wrong_target(&draft, None).starts_with("a target is a URL"));
        assert_eq!(wrong_target(&read_toml(FILE, WAS).unwrap(), None), "");
    }

    #[test]
    fn each_parameter_has_its_field_once() {
        let draft = read_toml(FILE, WAS).unwrap();
        let mut keys: Vec<String> = sections(&draft, None)
            .into_iter()
            .flat_map(Section::into_fields)
            .map(|f| f.key)
            .collect();
        let n_of_plan = keys.iter().filter(|key| key.starts_with("plan.")).count();
        assert_eq!(n_of_plan, PLAN.len() - 1, "the target stands by itself");
        assert_eq!(
            keys.iter().filter(|key| key.starts_with("group.0.")).count(),
            group_flags().count()
        );
        let n = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), n);
    }
}
