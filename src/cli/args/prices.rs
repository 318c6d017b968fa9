//! The arguments of `prices`.

use std::path::PathBuf;

use clap::Subcommand;

#[derive(Subcommand)]
pub(crate) enum PricesVerb {
    /// Import litellm's model_prices_and_context_window.json as prices.json; endpoints without prices of their own use it
    Import {
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// List the imported prices, and which endpoints have them
    List {
        /// Only models whose name contains this
        #[arg(value_name = "NAME")]
        name: Option<String>,
    },
}
