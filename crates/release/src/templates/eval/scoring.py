"""How answers to this set are read and scored: as `riddlemill evaluate` does, for the files of lm_eval, inspect_ai and OpenCompass beside it.

An answer that names no option, or two, is a format error, and wrong.
"""

import json
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
TASKS = json.loads((HERE / "tasks.json").read_text(encoding="utf-8"))
ANGLES = "<＜﹤‹⟨\u2329˂ᐸ❮≺"
PLACE, ESCAPED = "<response-here>", "&lt;response-here>"


{% if divided %}
def items(task, split=None):
    """The items of a task in a split, or in the one that is evaluated: id, system, prompt, and what the answer is scored by."""
    file = f"{task}.{split or TASKS[task]['evaluated']}.jsonl" if "splits" in TASKS[task] else f"{task}.jsonl"
    with open(HERE / "items" / file, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
{% else %}
def items(task):
    """The items of a task: id, system, prompt, and what the answer is scored by."""
    with open(HERE / "items" / f"{task}.jsonl", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
{% endif %}


def narrow(text):
    """Full-width signs in their narrow forms, without a code fence around all of it."""
    fenced = re.fullmatch(r"\s*```(\S*)[ \t]*\n(.*?)```\s*", text, re.S)
    text = fenced[2] if fenced and "```" not in fenced[2] else text
    return "".join(" " if c == "\u3000" else chr(ord(c) - 0xFEE0) if "\uff01" <= c <= "\uff5e" else c for c in text)


def without_reasoning(text):
    """The text behind a reasoning model's thoughts."""
    return re.sub(r"^\s*(?:<think(?:ing)?>)?(?:(?!<think).)*?</think(?:ing)?>", "", text, count=1, flags=re.S)


{% if confidence %}
def without_confidence(text):
    """The answer in an object with `answer` and `confidence`, or without the line that states a confidence."""
    for begin in (place for place, c in enumerate(text) if c == "{"):
        try:
            said, _ = json.JSONDecoder().raw_decode(text, begin)
        except ValueError:
            continue
        if {"answer", "confidence"} <= said.keys():
            answer = said["answer"]
            return "; ".join(map(str, answer)) if isinstance(answer, list) else str(answer)
    lines = text.splitlines()
    for at in reversed(range(len(lines))):
        if re.match(r"[\s*\-#]*(?:confidence|置信度|把握)[\s*]*[:：=]", lines[at], re.I):
            return "\n".join(lines[:at] + lines[at + 1 :])
    return text


{% endif %}
def labelled(text, labels):
    """What follows `label:` on the last line that begins with one."""
    for line in reversed(text.splitlines()):
        line = re.sub(r"^[\s*#\->]+", "", line)
        for label in labels:
            found = re.match(re.escape(label) + r"[* ]*[:：](.*)", line, re.I)
            if found:
                return found[1].strip(" \t*")
    return None


def letter(text, letters):
    text = narrow(text)
    found = labelled(text, ["答案", "选项", "answer", "option", "choice"])
    text = text.strip() if found is None else found
    head = re.sub(r"^[\s(\[{【「\"'*]+", "", text)
    # "A" as the first word of a sentence is no answer, "A." and "A 因为" are.
    word = re.match(r"A (?!or |and )[a-z]", head)
    if head and head[0].upper() in letters and not re.match(r"[A-Za-z0-9]", head[1:]) and not word:
        joined = re.match(r"\s*(?:[\s、,/&和或]+(?:or |and )?|or |and )([A-Z])(?![A-Za-z0-9])", head[1:])
        return None if joined and joined[1] in letters else head[0].upper()
    named = set(re.findall(r"(?<![A-Za-z0-9'])([A-Z])(?![A-Za-z0-9'])", head[1:] if word else text)) & set(letters)
    return named.pop() if len(named) == 1 else None


def bare(text):
    return text.strip().strip(" \t\n.\"'*`").lower()


def words(text):
    return " ".join(re.findall(r"[\w']+", text.lower().replace("’", "'")))


def option(text, letters, options):
    """A letter, or the words of one option."""
    plain = bare(text)
    label = plain.strip("()[]:").upper()
    if label in letters:
        return label
    for known, one in zip(letters, options):
        if bare(one) == plain:
            return known
    named = letter(text, letters)
    if named is None:
        within = [known for known, one in zip(letters, options) if f" {words(one)} " in f" {words(text)} "]
        named = within[0] if len(within) == 1 else None
    return named


def one_of(text, names):
    text = narrow(text)
    exact = text.strip().strip(" \t\n。.，,“”\"'「」*`【】[]()").lower()
    same = [name for name in names if name.lower() == exact]
    within = same or [name for name in names if name.lower() in text.lower()]
    return within[0] if len(same) == 1 or len(within) == 1 else None


def tag(text, names, anywhere):
    if anywhere:
        for found in re.findall(r"<choice>\s*(.*?)\s*</choice>", text, re.S):
            if found in names:
                return found
        return None
    lines = [line.strip().strip("*`") for line in narrow(text).splitlines() if line.strip()]
    found = re.fullmatch(r"<choice>(.*)</choice>", lines[-1], re.I) if lines else None
    inner = re.sub(r"\s", "", found[1]).lower() if found else None
    return next((name for name in names if name.lower() == inner), None)


def number(text, low, high, alone=False):
    """The number in double brackets, or one that stands alone; None off the scale."""
    text = narrow(text).replace("【", "[").replace("】", "]")
    found = re.findall(r"\[\[\s*([0-9]+)(?:\.0+)?\s*\]\]", text)
    found = found or (re.findall(r"^\s*(-?[0-9]+)\.?\s*$", text) if alone else [])
    return int(found[-1]) if found and low <= int(found[-1]) <= high else None


def answer(task, item, text):
    """The answer that a reply gives, in the form of `item["answer"]`; None is a format error."""
    form, text = TASKS[task]["form"], without_reasoning(text)
{% if confidence %}
    if "confidence" in TASKS[task]:
        text = without_confidence(text)
{% endif %}
    if form["kind"] == "letter":
        if form["words"]:
            return option(text, item["choices"], item["options"])
        return letter(text, item["choices"])
    if form["kind"] == "tag":
        return tag(text, item["choices"], form["anywhere"])
    if form["kind"] == "label":
        named = one_of(text, item["choices"])
        other = one_of(text, form["others"]) if named is None else None
        return item["choices"][form["others"].index(other)] if other else named
    if form["kind"] == "labels":
        said = set(re.findall(r"\w+", text.lower()))
        return "; ".join(code for code in form["codes"] if code in said) or None
    if form["kind"] == "rating":
        rated = number(text, *form["scale"], alone=True)
        return None if rated is None else str(rated)
    return text.strip() or None


def judge_prompts(item, text):
    """The judge's prompts about an answer: one, or one for each order of the two texts that are compared."""
    text = without_reasoning(text).strip()
    # Between tags no answer may look like one: the bracket before a name is written out.
    shut_in = re.sub(rf"[{ANGLES}](?=[\s\u200b-\u200f\u2060-\u206f/\\／＼]*[^\W\d])", "&lt;", text)
    put = lambda prompt: prompt.replace(ESCAPED, shut_in).replace(PLACE, text)  # noqa: E731
    return [{key: put(prompt) for key, prompt in order.items()} for order in item["judge"]]


def rating(form, text):
    """A judge's rating of an answer, or None."""
    low, high = form["scale"]
    text = without_reasoning(text)
    if not form["json"]:
        return number(text, low, high)
    found = re.findall(r"[\"']?rating[\"']?\s*:\s*[\"']?([0-9]+)(?:\.0+)?[\"']?\s*[,}\n]", narrow(text))
    return int(found[-1]) if len(set(found)) == 1 and low <= int(found[-1]) <= high else None


def preferred(text, person_first):
    """Whose text a judge prefers: `person`, `model` or `tie`; None if its reply does not say."""
    chosen = tag(without_reasoning(text), ["1", "2", "tie"], False)
    return {None: None, "tie": "tie", "1": "person" if person_first else "model"}.get(
        chosen, "model" if person_first else "person"
    )


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else 0.0


def whole_groups(results, parts):
    """The share of groups that are right in all of these parts, of those in which all are answered."""
    groups = {}
    for item, said in results:
        if set(item["parts"]) & set(parts):
            groups.setdefault(item["group"], []).append(said == item["answer"])
    return mean(all(right) for right in groups.values() if len(right) == len(parts))


def macro_f1(results, of_set):
    """Of the labels that are right somewhere, or else also of those that are named: like scikit-learn's."""
    split = lambda text: set(text.split("; ")) if text else set()  # noqa: E731
    labels = {label for item, _ in results for label in split(item["answer"])}
    labels |= set() if of_set else {label for _, said in results for label in split(said)}
    scores = []
    for label in sorted(labels):
        gold = [label in split(item["answer"]) for item, _ in results]
        named = [label in split(said) for _, said in results]
        both = sum(g and n for g, n in zip(gold, named))
        scores.append(2 * both / (sum(gold) + sum(named)))
    return mean(scores)


def correlation(results):
    """Pearson's, of the ratings and people's."""
    pairs = [(float(item["answer"]), float(said)) for item, said in results if said is not None]
    x, y = (mean(values) for values in zip(*pairs)) if pairs else (0.0, 0.0)
    up = sum((a - x) * (b - y) for a, b in pairs)
    down = (sum((a - x) ** 2 for a, _ in pairs) * sum((b - y) ** 2 for _, b in pairs)) ** 0.5
    return up / down if down else 0.0


def figures(task):
    """The names of a task's figures, each with what computes it from pairs of item and answer."""
    task = TASKS[task]
    found = {"acc": lambda results: mean(said == item["answer"] for item, said in results)}
    if task["form"]["kind"] == "rating":
        found = {"correlation": correlation}
    if task["f1_of_set"] is not None:
        found["macro_f1"] = lambda results: macro_f1(results, task["f1_of_set"])
    for name, parts in task["groups"].items():
        found[name] = lambda results, parts=parts: whole_groups(results, parts)
    found["in_form"] = lambda results: mean(said is not None for _, said in results)
    return found
