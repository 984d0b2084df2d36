//! Which hosts execute the clients of a run, and how the load is divided among them.

use std::fmt;

/// One host that executes clients of a run, through an agent that has joined the hub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentShare {
    /// Name of the agent; `None` for any agent that has joined and is free.
    pub name: Option<String>,
    /// Share of clients and arrivals, relative to those of the other agents.
    pub share: u32,
}

/// Largest number of agents in a run.
pub const AGENTS_MAX: usize = 256;
/// Largest share of an agent. Shares are exact over a period of their sum.
const SHARE_MAX: u32 = 1000;

impl AgentShare {
    /// Parses agents as users write them: a number of any agents (`4`), or names with commas
    /// between them, each with its share if it is not 1 (`gen1,gen2=3`). Fails with what is wrong.
    pub fn parse_list(text: &str) -> Result<Vec<AgentShare>, String> {
        let text = text.trim();
        if let Ok(count) = text.parse::<usize>() {
            return match count {
                1..=AGENTS_MAX => Ok(vec![AgentShare { name: None, share: 1 }; count]),
                _ => Err(format!("{count} agents are not possible: give 1 to {AGENTS_MAX}")),
            };
        }
        let all = text.split(',').map(AgentShare::parse).collect::<Result<Vec<_>, _>>()?;
        if all.len() > AGENTS_MAX {
            return Err(format!("{} agents are more than {AGENTS_MAX}", all.len()));
        }
        for (nth, agent) in all.iter().enumerate() {
            if all[..nth].iter().any(|other| other.name == agent.name && other.name.is_some()) {
                return Err(format!("the agent {agent} is named twice: give it a larger share"));
            }
        }
        Ok(all)
    }

    fn parse(text: &str) -> Result<AgentShare, String> {
        let (name, share) = text.split_once('=').unwrap_or((text, "1"));
        let (name, share) = (name.trim(), share.trim());
        if !is_agent_name(name) {
            return Err(format!(
                "'{name}' is no name of an agent: give a number of agents, or names such as \
                 gen1,gen2=3 ('dbdyno agents' lists them)"
            ));
        }
        let share = share.parse().ok().filter(|share| (1..=SHARE_MAX).contains(share));
        let bad = || format!("the share of {name} is not a number from 1 to {SHARE_MAX}");
        Ok(AgentShare { name: Some(name.to_owned()), share: share.ok_or_else(bad)? })
    }

    /// Formats agents so that [`AgentShare::parse_list`] reads the same.
    pub fn print_list(all: &[AgentShare]) -> String {
        match all.iter().all(|agent| agent.name.is_none()) {
            true => all.len().to_string(),
            false => all.iter().map(AgentShare::to_string).collect::<Vec<_>>().join(","),
        }
    }
}

impl fmt::Display for AgentShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.as_deref().unwrap_or("any");
        match self.share {
            1 => f.write_str(name),
            share => write!(f, "{name}={share}"),
        }
    }
}

/// Whether this can be the name of an agent: letters, digits, `-`, `_` and dots, not a number, at
/// most 63 characters.
pub fn is_agent_name(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let is_number = name.chars().all(|letter| letter.is_ascii_digit());
    (1..=63).contains(&name.len()) && name.chars().all(is_plain) && !is_number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_a_number_or_names_with_shares() {
        for text in ["1", "256", "gen1", "gen1,gen2=3,db-2.example"] {
            let all = AgentShare::parse_list(text).unwrap();
            assert_eq!(AgentShare::print_list(&all), text);
        }
        assert_eq!(AgentShare::parse_list(" gen1 = 2 , gen2 ").unwrap()[0].share, 2);
        for (bad, why) in [
            ("0", "1 to 256"),
            ("257", "1 to 256"),
            ("gen1,gen1=2", "twice"),
            ("gen1=0", "from 1 to 1000"),
            ("gen1=x", "from 1 to 1000"),
            ("", "no name"),
            ("a b", "no name"),
            ("a,7", "no name"),
        ] {
            assert!(AgentShare::parse_list(bad).unwrap_err().contains(why), "{bad}");
        }
    }
}
