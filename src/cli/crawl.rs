//! `crawl`: fetch a source into raw/warc, politely and resumably.

use serde::Serialize;

use super::args::{Crawl, Global};
use super::exit::{Exit, Failure};
use super::look::find_crawl;
use super::output::{self, count, format_count};
use crate::config::{Config, toml_string};
use crate::crawl::settings::{Refresh, Source};
use crate::crawl::{self, CrawlError, Event, Plan, Summary};
use crate::pages::Site;
use crate::stages::Stop;

pub(super) fn crawl_source(args: &Crawl, global: &Global, stop: &Stop) -> Result<Exit, Failure> {
    // A saved page can be tried without a workspace.
    let config =
        if args.try_page.is_some() { output::load_or_default(global)? } else { output::load_config(global)? };
    let dirs = crate::report::crawl_dirs(&config);
    if let Some(target) = &args.try_page {
        return super::look::look_at_page(args, target, &dirs, &config, global);
    }
    let name = args.source.as_deref().unwrap_or_default();
    let mut source = find_crawl(&config, name)?.clone();
    match args.refresh.as_deref() {
        Some("all") => source.refresh = Refresh::All,
        Some(_) => source.refresh = Refresh::Changed,
        None => {}
    }
    let source = &source;
    if args.dry_run {
        let plan = crawl::plan_crawl(source, &dirs)?;
        if global.json {
            output::print_json(&plan)?
        } else {
            output::print_text(&plan_text(&plan))?
        }
        return Ok(Exit::Done);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|e| Failure { exit: Exit::Io, message: format!("cannot start the network: {e}") })?;
    // Ctrl-C only sets a flag, which cannot be awaited.
    let cancel = async {
        while !stop.is_requested() {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    };
    let tell = |event| {
        if !global.quiet {
            print_event(&event, global.verbose);
        }
    };
    let summary = runtime.block_on(crawl::run_crawl(source, &dirs, tell, cancel))?;
    if global.json {
        output::print_json(&EndedCrawl { complete: summary.is_complete(), summary: &summary })?
    } else {
        output::print_text(&format!("{}{}", summary_text(&summary, name), not_imported(&config, source)))?
    }
    Ok(match &summary {
        s if s.cancelled => Exit::Interrupted,
        s if s.is_complete() => Exit::Done,
        _ => Exit::Partial,
    })
}

/// A crawl that has ended.
#[derive(Serialize)]
struct EndedCrawl<'s> {
    #[serde(flatten)]
    summary: &'s Summary,
    /// Whether everything requested was fetched.
    complete: bool,
}

fn print_event(event: &Event, verbose: bool) {
    match event {
        Event::Done { url, class, status, bytes, done, pending } if verbose => {
            eprintln!("{done} done, {pending} wait: {status} {class:?} {} {url}", count(*bytes, "byte"));
        }
        Event::Done { done, pending, .. } if done % 100 == 0 => {
            eprintln!("{} done, {} wait", format_count(*done), format_count(*pending));
        }
        Event::Done { .. } => {}
        Event::Waiting { url, why, wait_secs } => eprintln!("waiting {wait_secs:.0} s: {why} ({url})"),
        Event::Skipped { url, why } => eprintln!("left out: {why} ({url})"),
        Event::Halted { host, why } => eprintln!("{host} is disabled for this run: {why}"),
    }
}

fn plan_text(plan: &Plan) -> String {
    let mut text = format!("{}: pass {}, as {}\n", plan.source, plan.pass, plan.user_agent);
    text.push_str(&format!("  hosts    {}\n", plan.hosts.join(", ")));
    text.push_str(&format!("  starts   {}\n", plan.starts.join("\n           ")));
    text.push_str(&format!(
        "  at most  {}, {:.1} s apart or what robots.txt demands\n",
        count(plan.max_pages, "page"),
        plan.delay_secs
    ));
    text.push_str(&format!(
        "  so far   {} done, {} known and waiting ({:.0} s at least)\n",
        format_count(plan.done),
        format_count(plan.pending),
        plan.least_secs
    ));
    for url in &plan.next {
        text.push_str(&format!("  next     {url}\n"));
    }
    text
}

fn summary_text(summary: &Summary, source: &str) -> String {
    let mut text = format!(
        "{source}: pass {}, {} done, {} wait\n",
        summary.pass,
        count(summary.done, "page"),
        format_count(summary.pending)
    );
    for (class, n) in &summary.classes {
        text.push_str(&format!("  {:<10} {}\n", format!("{class:?}").to_lowercase(), format_count(*n)));
    }
    let lists = [
        ("blocked", &summary.blocked),
        ("deferred", &summary.deferred),
        ("failed", &summary.failed),
        ("refused", &summary.refused),
    ];
    for (name, list) in lists {
        list.iter().for_each(|(what, why)| text.push_str(&format!("  {name:<10} {what}: {why}\n")));
    }
    summary.forbidden.iter().for_each(|url| text.push_str(&format!("  {:<10} {url}\n", "forbidden")));
    summary.ended_by.iter().for_each(|limit| text.push_str(&format!("  {:<10} {limit}\n", "ended by")));
    summary.disallowed.iter().for_each(|url| text.push_str(&format!("  robots.txt forbids {url}\n")));
    if !summary.blocked.is_empty() {
        text.push_str(&format!(
            "a blocked host is disabled for this run, and the block is not circumvented; the \
             pages fetched so far are kept\n  \
             hint: wait some hours, raise politeness.delay_secs or ask the site's owner; `riddlemill crawl \
             {source}` continues where it stopped\n"
        ));
    }
    text
}

/// The settings that are still missing for importing the pages.
fn not_imported(config: &Config, source: &Source) -> String {
    let name = &source.name;
    let archive = config.root.join("raw").join("warc").join(name);
    // A source may read the archive by its path instead of naming the crawl.
    let reads = |found: &crate::config::Source| {
        found.crawl.as_ref() == Some(name) || config.root.join(&found.path).starts_with(&archive)
    };
    let kind = match &source.site {
        Site::Profile(_) => "profile",
        Site::Tieba => "warc",
        Site::Plain => return String::new(),
    };
    if config.sources.iter().any(reads) {
        return String::new();
    }
    let from = match kind {
        "profile" => format!("crawl = {}", toml_string(name)),
        _ => format!("path = {}", toml_string(&format!("raw/warc/{name}/*.warc.gz"))),
    };
    format!(
        "no [[source]] reads these pages yet\n  hint: [[source]] with name = {}, kind = {}, {from}\n",
        toml_string(name),
        toml_string(kind)
    )
}

impl From<CrawlError> for Failure {
    fn from(error: CrawlError) -> Failure {
        let exit = match &error {
            CrawlError::Settings(_) => Exit::Usage,
            CrawlError::Frontier(_) | CrawlError::Client(_) => Exit::Io,
        };
        Failure { exit, message: error.to_string() }
    }
}
