//! `export`: rows for annotation tools and spreadsheets.

use super::args::{Export, ExportForm, Global};
use super::exit::{Exit, Failure};
use super::output::count;
use crate::release::export::{Form, export as write};
use crate::release::rows_of;

pub(super) fn export(args: &Export, global: &Global) -> Result<Exit, Failure> {
    let mut configs = rows_of::of_folder(&args.folder)?;
    if let Some(config) = &args.config {
        configs.retain(|(name, _)| name == config);
    }
    let [(_, rows)] = &configs[..] else {
        return Err(Failure::usage("the folder has not exactly one such config\n  hint: --config names it"));
    };
    let form = match args.form {
        ExportForm::LabelStudio => Form::LabelStudio,
        ExportForm::Argilla => Form::Argilla,
        ExportForm::Csv => Form::Csv,
        ExportForm::Xlsx => Form::Xlsx,
    };
    write(rows, form, &args.to)?;
    if !global.quiet {
        eprintln!("{} in {}", count(rows.len() as u64, "row"), args.to.display());
    }
    Ok(Exit::Done)
}
