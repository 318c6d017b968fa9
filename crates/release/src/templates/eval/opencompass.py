"""The tasks of {{ set }} for OpenCompass: data sets for a configuration's `datasets`.

PYTHONPATH=eval/opencompass opencompass --config-dir eval/opencompass --datasets {{ set }} --models MODEL
"""

{{ set }}_datasets = [
{% for task in tasks %}
{% for note in task.notes %}
    # {{ note }}
{% endfor %}
    dict(
        abbr={{ task.name | quoted }},
        type="opencompass.datasets.CustomDataset",
        path="{{ "{{ fileDirname }}" }}/../../items/{{ task.name }}{% if task.splits.with_items %}.{{ task.splits.evaluated }}{% endif %}.jsonl",
        local_mode=True,
        reader_cfg=dict(input_columns=["system", "prompt"], output_column="answer"),
        infer_cfg=dict(
            prompt_template=dict(
                type="opencompass.openicl.icl_prompt_template.PromptTemplate",
                template=dict(round=[dict(role="HUMAN", prompt={{ "{system}\n\n{prompt}" | quoted if task.system else "{prompt}" | quoted }})]),
            ),
            retriever=dict(type="opencompass.openicl.icl_retriever.ZeroRetriever"),
            inferencer=dict(type="opencompass.openicl.icl_inferencer.GenInferencer"),
        ),
        eval_cfg=dict(evaluator=dict(type="riddlemill_evaluator.Evaluator", task={{ task.name | quoted }})),
    ),
{% endfor %}
]
