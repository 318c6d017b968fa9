//! Tests of `eval_files`.

use super::*;

#[test]
fn every_task_of_the_five_is_described() {
    let of = |config: &'static str| {
        let benchmark = riddlemill_benchmarks::find_benchmark(config).unwrap();
        let task = |task| describe_task(config, Some(benchmark), &Question::Task(task), false).unwrap();
        benchmark.tasks.iter().map(task).collect::<Vec<_>>()
    };
    let names = |config| of(config).into_iter().map(|task| task.name).collect::<Vec<_>>();
    assert_eq!(names("flub"), ["flub_select", "flub_classify", "flub_explain"]);
    assert_eq!(names("brainteaser"), ["brainteaser_solve", "brainteaser_solve_open"]);
    let flub = of("flub");
    assert_eq!((flub[1].f1, flub[0].f1), (Some(true), None));
    assert_eq!(flub[2].form, ScoringForm::Judged { scale: Some([1, 10]), json: false });
    let groups: Vec<String> = of("brainteaser")[0].groups.keys().cloned().collect();
    assert_eq!(groups, ["groups_original_semantic", "groups_original_semantic_context"]);
    assert_eq!(of("chumor")[0].form, ScoringForm::Judged { scale: None, json: false });
    assert_eq!(of("ruozhibench-gen")[0].form, ScoringForm::Judged { scale: Some([0, 4]), json: true });
}

#[test]
fn an_answer_has_a_place_in_the_judges_prompt_whether_it_is_escaped_or_not() {
    let prompts = Prompts::load_prompts(None).unwrap();
    let row = json!({ "text": "谁叫醒闹钟？", "explanation": "没有人。" });
    let columns = Value::from(Serde(&row));
    let flub = riddlemill_benchmarks::find_benchmark("flub").unwrap();
    let judged = flub.tasks[2].judged.as_ref().unwrap();
    let own = render_judge_prompts(judged, &columns, &prompts).unwrap();
    assert!(own[0]["prompt"].as_str().unwrap().contains("<response>\n&lt;response-here>\n</response>"));
    let printed = render_judge_prompts(judged, &columns, &prompts.as_printed(true)).unwrap();
    assert!(printed[0]["prompt"].as_str().unwrap().contains(&format!("\n{RESPONSE}\n")));
}
