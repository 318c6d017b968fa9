//! The help of the whole: the verbs by what they are for, one line each.

/// `riddlemill --help`. Clap has no groups of verbs; a test counts them.
pub(super) const TEMPLATE: &str = "\
{about-with-newline}
{usage-heading} {usage}

Begin:
  init         Create a workspace, with the sample or for files of your own
  run          Make every stage that is out of date, then the candidates
  status       Show what is out of date, what waits for whom, the next command
  serve        Serve the workspace as web pages, by default to this machine
  config       Print every setting and its origin, or explain a table

Get dumps:
  fetch        Download the dumps of sources with a url, and pin their hashes
  crawl        Fetch a [[crawl]] source into raw/warc, as slowly as hosts want
  profiles     Profiles, which describe how a site's pages are parsed

See what happened to posts:
  explain      Show the history of a post, and why it was kept or left out
  show         Show the records of a stage, or pairs just below the threshold
  report       Print the funnel: records by stage, state and reason
  published    Report on the rows of a published set
  compare      Compare a set with a published one
  diff         Show the differences between two releases or stage folders

Ask models:
  estimate     Estimate requests and their cost, without sending anything
  endpoint     Check an endpoint of a model with one request
  prices       Prices of models: import, list
  prompts      The prompts that are sent to models
  replies      The store of models' replies

Let people decide:
  review       Ballots and votes: export, import, assignment, progress
  decide       Overrule rules, drafts and votes for a record or a pair
  export       Write rows for Label Studio, Argilla or a spreadsheet
  access       Tokens for the web pages: who may open which pages

Release and evaluate:
  release      Release a recipe's candidate as output/<recipe>/<version>
  verify       Verify the folder of a release from its own files
  publish      Publish a release on the Hugging Face Hub, or for Zenodo
  site         Write a release as static pages that anybody can audit
  contamination Find rows of a set that published sets or releases have, too
  withdraw     Withdraw a post or a dump from all stages and later releases
  evaluate     Evaluate models on a set, with the papers' tables as the result

Check and keep:
  audit        Prove from the files alone that every record is accounted for
  fsck         Check that every file of raw/ is what was written
  raw          Merge in votes, replies and archives of another workspace
  trust        What the workspace may do beyond its own folder

Benchmarks of your own, clusters, shells:
  benchmark    Benchmarks, built in or your own: list, show, check, try, convert
  apply        Apply one stage to JSON Lines on stdin, row by row
  assemble     Write a stage from ledger records that other machines made
  completions  Print a completion script for a shell
  man          Write the manual pages
  help         Print this, or the help of a verb

Options of every verb:
{options}{after-help}
";
