//! Import as a stage.

use std::collections::BTreeMap;

use super::{Dump, Secrets, add_names, import, no_names, words_evidence};
use crate::config::sections;
use crate::stages::context::{About, NewRows, StageError, StageRows};
use crate::stages::job::{Job, StepContext};
use crate::stages::salt;
use crate::stages::stage::Stage;
use crate::stages::withdrawal::Withdrawals;

/// Dumps to posts.
#[derive(Debug)]
pub struct Importing;

impl Stage for Importing {
    fn describe_stage(&self) -> About {
        // 6 reads English pages without a declaration as windows-1252, and sets mojibake aside. 7 gives each post its language.
        // 8 decodes entities of every kind of source, sets Chinese mojibake aside, too, and takes no damaged id for one.
        About { name: "import", version: 9, section: "import", rows: StageRows::Posts, detail: "" }
    }

    fn make_rows(&self, job: &Job<'_>) -> Result<NewRows, StageError> {
        let mut writer = job.create_post_writer()?;
        let settings: sections::Import = job.step_settings();
        let salt = salt::read_or_draw(&job.step.workspace())?;
        let withdrawn = Withdrawals::load(&job.step.workspace())?;
        let mut names = no_names(&job.step.config.root, &settings, &salt)?;
        let dumps = job.step.dumps;
        dumps.iter().for_each(|dump| add_names(&mut names, dump, &settings));
        let secrets = Secrets { salt: &salt, names: &names };
        import(dumps, &settings, &secrets, &withdrawn, &mut writer, job.asking.stop, job.asking.pulse)?;
        Ok(writer.into())
    }

    fn collect_evidence(&self, step: &StepContext<'_>) -> Result<BTreeMap<String, String>, StageError> {
        let mut evidence: BTreeMap<String, String> = step.dumps.iter().map(Dump::file_evidence).collect();
        // Does not draw a salt; `run` draws it before.
        let salt = salt::read_salt(&step.workspace())?;
        let withdrawn = Withdrawals::load(&step.workspace())?;
        evidence.extend(withdrawn.manifest_evidence().map(|withdrawn| ("withdrawn".to_string(), withdrawn)));
        evidence.extend(salt.map(|salt| ("salt".to_string(), salt::fingerprint_salt(&salt))));
        evidence.extend(words_evidence(&step.config.root, &step.section_settings("import"))?);
        Ok(evidence)
    }

    fn is_import(&self) -> bool {
        true
    }
}
