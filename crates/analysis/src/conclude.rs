//! The complete report of a run: its measurements together with the findings on them.
//!
//! Not here: how measurements (report) and findings (findings) are made.

use model::{Finding, Severity};

use crate::findings::{data_in_memory, judge, judge_dips};
use crate::report::{LimitedBy, Options, Report, Status};
use crate::tally::Tally;

impl Report {
    /// Returns the report of a run with all findings on it. The run may still be in progress.
    pub fn from_tally(tally: &Tally) -> Report {
        let measured = Report::measured(tally);
        // Findings on dips come first: they explain what other findings only observe.
        let mut findings: Vec<Finding> =
            judge_dips(&measured.dips, &measured.disturbances).into_iter().collect();
        let has_cause = !findings.is_empty();
        findings.extend(judge(tally, has_cause));
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        let limited_by = measured.limit(tally);
        let is_of_disk = limited_by.as_ref().is_some_and(LimitedBy::is_disk);
        findings.extend(data_in_memory(tally).filter(|_| is_of_disk));
        Report { findings, limited_by, ..measured }
    }

    /// Returns the report of a run with all its findings, and with the figures of each client if
    /// `options` ask for them.
    pub fn with(tally: &Tally, options: Options) -> Report {
        let report = Report::from_tally(tally);
        if options.per_client { report.with_clients(tally) } else { report }
    }

    /// Adds a finding that was made outside of this crate after the run was judged, and keeps
    /// findings sorted by severity.
    pub fn with_finding(mut self, finding: Finding) -> Report {
        self.findings.push(finding);
        self.findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        self
    }

    /// Returns the report of a run that was read from the store. `kept` is the run's status in the
    /// store, and is used if its events contain no end. A run without an end that the store calls
    /// interrupted was killed, and gets the finding `killed`.
    pub fn with_status(tally: &Tally, kept: model::Status) -> Report {
        let mut report = Report::from_tally(tally);
        if report.status == Status::Running {
            report.status = match kept {
                model::Status::Running => Status::Running,
                model::Status::Completed => Status::Completed,
                model::Status::Interrupted => Status::Interrupted,
                model::Status::Failed => Status::Failed,
            };
        }
        if tally.ended.is_none() && report.status == Status::Interrupted {
            let text = "The process of the run was killed: the report covers the seconds stored \
                        until then, without the checks after the load and the comparison of commit \
                        counts.";
            let finding = Finding::new("killed", Severity::Warning, text);
            report.reason = Some("the process of the run was killed".to_owned());
            report.findings.insert(0, finding);
        }
        report
    }

    /// Adds the finding `store_not_written` if `n_events`, the number of the run's events that
    /// could not be stored, is above 0. Does nothing if the report already has this finding.
    pub fn with_lost(mut self, n_events: u64) -> Report {
        let id = "store_not_written";
        let is_reported = self.findings.iter().any(|finding| finding.id == id);
        if n_events > 0 && !is_reported {
            let text = format!(
                "{n_events} events of this run could not be written to the store: this report may \
                 lack seconds, findings or the end."
            );
            let severity = Severity::Warning;
            self.findings.insert(0, Finding::new(id, severity, text));
        }
        self
    }
}
