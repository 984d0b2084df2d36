//! The whole report of a run: what was measured, and what is to be thought of it.
//!
//! Not here: how either is found (report, findings).

use model::{Finding, Severity};

use crate::findings::{judge, judge_dips};
use crate::report::{Options, Report, Status};
use crate::tally::Tally;

impl Report {
    /// Returns the report of a run, with all its findings.
    pub fn from_tally(tally: &Tally) -> Report {
        let measured = Report::measured(tally);
        // Findings on dips come first: they explain what other findings only observe.
        let mut findings: Vec<Finding> =
            judge_dips(&measured.dips, &measured.disturbances).into_iter().collect();
        findings.extend(judge(tally));
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        Report { findings, ..measured }
    }

    /// Returns the report of a run, with the parts that the options ask for.
    pub fn with(tally: &Tally, options: Options) -> Report {
        let report = Report::from_tally(tally);
        if options.per_client { report.with_clients(tally) } else { report }
    }

    /// Adds a finding that was made after the run had been judged.
    pub fn with_finding(mut self, finding: Finding) -> Report {
        self.findings.push(finding);
        self.findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        self
    }

    /// Returns the report of a run with the status that the store has of it: a process that died
    /// could not record how its run ended.
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

    /// Adds a finding if `n_events` events of the run are missing in the store. The run's own
    /// finding may be among the lost events.
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
