"""How answers to this set are read and scored: as `riddlemill evaluate` does, for the files of lm_eval, inspect_ai and OpenCompass beside it.

An answer that names no option, or two, is a format error, and wrong.
"""

import json
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
TASKS = json.loads((HERE / "tasks.json").read_text(encoding="utf-8"))
ANGLES = "<＜﹤‹⟨\u2329˂ᐸ❮≺"
BLANKS = " \t\n\r\f\v\u00a0\u3000"
SIGNS = BLANKS + "()[]{}【】「」“”‘’\"'*`.,:;?!。、_"
WORDS = {
{% for name, list in words %}
    {{ name | quoted }}: {{ list | quoted }},
{% endfor %}
}
MARKS = {
{% for name, list in marks %}
    {{ name | quoted }}: {{ list | quoted }},
{% endfor %}
}
# Characters that nobody sees.
NOISE = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffc]"
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


def begins_a_line(before):
    return before.rstrip(" \t")[-1:] in ("", "\n")


def next_thought(text):
    """Where the text before the next thought ends, the thought's own text, and where the text after it begins."""
    found = []
    for start, close in MARKS["reasoning"]:
        places = (hit.start() for hit in re.finditer(re.escape(start), text))
        opened = next((at for at in places if begins_a_line(text[:at])), None)
        closed = text.find(close)
        if closed >= 0 and (opened is None or closed < opened) and start not in text[:closed]:
            found.append((0, 0, closed, closed + len(close)))
        elif opened is not None:
            begin = opened + len(start)
            end = text.find(close, begin)
            # A word in brackets may begin any sentence.
            if end >= 0:
                found.append((opened, begin, end, end + len(close)))
            elif start[0] in "<◁" or start == "[think]":
                found.append((opened, begin, len(text), len(text)))
    return min(found, key=lambda one: one[0], default=None)


def between_sentences(lower, start):
    """Where the reasoning between two sentences begins and ends, and where the answer does."""
    bare_start, bare_end = MARKS["channels"][2]
    if lower[start:].startswith(bare_start) and bare_end in lower:
        at = lower.index(bare_end)
        return start + len(bare_start), at, at + len(bare_end)
    opens, closes = MARKS["sentences"]
    head = lower[start:].lstrip("*# ")
    for one in opens:
        if head.startswith(one):
            begin = lower.index(one, start) + len(one)
            ends = [(lower.find(close, begin), len(close)) for close in closes if close in lower[begin:]]
            at, length = min(ends, default=(len(lower), 0))
            return begin, at, at + length
    return None


def unwrapped(answer):
    lower = narrow_case(answer)
    for start, close in MARKS["wraps"]:
        if lower.startswith(start):
            end = lower.rfind(close)
            end = len(lower) if end < 0 else end
            return answer if len(lower) - end > len(close) else answer[len(start) : max(end, len(start))].strip()
    return answer


def of_turn(answer):
    """The answer without the marks of its turn."""
    if "<" not in answer and "[" not in answer:
        return answer
    begins, turns, endings = MARKS["turns"]
    lower = narrow_case(answer)
    begun = lower.lstrip()
    mark = next((mark for mark in begins if begun.startswith(mark)), None)
    start = len(lower) - len(begun) + len(mark) if mark else 0
    end = min((lower.index(mark, start) for mark in turns if mark in lower[start:]), default=len(lower))
    while True:
        kept = lower[start:end].rstrip()
        token = re.search(r"(?:<\|(?:(?!<\|)\S){1,40}\|>|<｜(?:(?!<｜)\S){1,40}｜>)$", kept)
        ending = next((len(mark) for mark in endings if kept.endswith(mark)), None) or (token and len(token[0]))
        if not ending:
            break
        end = start + len(kept) - ending
    return answer[start:end].strip() if start > 0 or end < len(lower) else answer


def narrow_case(text):
    """ASCII letters in lower case: the text keeps its length."""
    return "".join(c.lower() if c.isascii() else c for c in text)


def without_reasoning(text):
    """The answer of a reply: what stands outside a reasoning model's thoughts and the marks of its turn."""
    lower = narrow_case(text)
    (final, channel), ends, _ = MARKS["channels"]
    said = between_sentences(lower, len(lower) - len(lower.lstrip()))
    thoughts, answer, rest = "", "", text
    if final in text:
        at = text.rfind(final)
        thoughts, rest = text[:at].strip(), text[at + len(final) :]
        rest = rest[: min((rest.index(end) for end in ends if end in rest), default=len(rest))]
    elif said:
        thoughts, rest = text[said[0] : said[1]].strip(), text[said[2] :]
    elif text.lstrip().startswith(channel):
        thoughts, rest = text.strip(), ""
    while (found := next_thought(narrow_case(rest))) is not None:
        before, begin, end, after = found
        thoughts += rest[begin:end].strip()
        answer += rest[:before]
        rest = rest[after:]
    answer += rest
    answer = of_turn(unwrapped(answer.strip()) if thoughts else answer)
    return re.sub(NOISE, "", answer)


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
def lines_of(text):
    return [line.rstrip("\r") for line in text.split("\n")]


def label_end(line, labels):
    """What follows the label and the colon with which a line begins."""
    line = re.sub(r"^[\s*#\->]+", "", line)
    for label in labels:
        found = re.match(re.escape(label) + r"[* ]*[:：](.*)", line, re.I | re.S)
        if found:
            return found[1].strip(" \t\r\n*")
    return None


def labelled(text, labels):
    """What follows `label:` on the last line that begins with one."""
    found = (label_end(line, labels) for line in reversed(lines_of(text)))
    return next((rest for rest in found if rest is not None), None)


def straight(text):
    """In lower case, with straight apostrophes."""
    return text.replace("’", "'").lower()


def ends_with_word(text, word):
    if not text.endswith(word):
        return False
    return not word.isascii() or word == "n't" or not re.search(r"[A-Za-z0-9']$", text[: -len(word)])


def starts_with_word(text, word):
    return text.startswith(word) and (not word.isascii() or not re.match(r"[A-Za-z0-9]", text[len(word) :]))


def denies_before(text, articles):
    rest = straight(text)
    while True:
        rest = rest.rstrip(BLANKS + "([{【「“\"*'")
        if any(ends_with_word(rest, denial) for denial in WORDS["denials_before"]):
            return True
        filler = next((word for word in [*WORDS["fillers"], *articles] if ends_with_word(rest, word)), None)
        if filler is None:
            return False
        rest = rest[: -len(filler)]


def denies_behind(text, denials):
    words = straight(text[:48]).lstrip(BLANKS + ")]}】」”\"*'").removeprefix("选项")
    # What is asked is not said.
    if words.startswith("?") or any(starts_with_word(words, denial) for denial in denials):
        return True
    said = words.lstrip(BLANKS + "-–—:")
    short = ["no", "wrong", "incorrect", "false", "不对", "不正确", "错", "错误", "✗", "×", "❌"]
    # "A - no", with nothing behind it: the text of an option may begin with such a word.
    return len(said) < len(words) and any(
        said.startswith(word) and not said[len(word) :].lstrip()[:1].isalnum() for word in short
    )


def denied(text, start, end):
    """Whether the choice between these places is denied. "Not a pun" denies a name; in "not A" the article is a letter."""
    articles = ["a", "an"] if end - start > 1 else []
    return denies_before(text[:start], articles) or denies_behind(text[end:], WORDS["denials_behind"])


def denied_first(behind):
    """Whether what opens a reply is denied or doubted at once."""
    return denies_behind(behind.lstrip(")]*\"'"), WORDS["denials_behind_first"])


def has_name(text, name):
    """Whether a text has a name somewhere where it is not denied."""
    places = (hit.start() for hit in re.finditer(re.escape(name), text))
    return name != "" and any(not denied(text, at, at + len(name)) for at in places)


def exceptional(text):
    """Whether a reply speaks of an exception, so that what it denies cannot be told."""
    return any(word in text.lower() for word in WORDS["exceptions"])


def bare(text):
    """Words in lower case, without the signs around them."""
    return straight(text.strip(SIGNS))


def is_word(letter, behind):
    """Whether a letter is a word of a sentence: "A 503 error", "A question like this", "b careful"."""
    found = re.match(r" ([a-z0-9][A-Za-z0-9'’]*)", behind)
    may_be = letter in ("A", "I") or letter.islower()
    return bool(may_be and found and found[1].replace("’", "'") not in WORDS["behind_letters"])


def joined(behind, letters):
    """Whether a text begins with a conjunction or separator and another letter."""
    text = behind.lstrip()
    rest = text.lstrip(BLANKS + "、,/&和或")
    rest = rest.removeprefix("or ") if rest.startswith("or ") else rest.removeprefix("and ")
    alone = rest[:1] in letters and rest[:1] != "" and not is_word(rest[0], rest[1:])
    return len(rest) < len(text) and alone and not re.match(r"[A-Za-z0-9]", rest[1:])


def only_letter(text, letters):
    """The one letter that a text names and does not deny."""
    if exceptional(text):
        return None
    hits = re.finditer(r"(?<![A-Za-z0-9'’])[A-Z](?![A-Za-z0-9'’])", text)
    hits = [hit for hit in hits if hit[0] in letters and not is_word(hit[0], text[hit.end() :])]
    # "A, B and D are wrong": letters that stand together are denied together.
    groups = []
    for hit in hits:
        between = re.split(r"[\s、,/&]+", text[groups[-1][-1].end() : hit.start()]) if groups else ["not"]
        if all(word in ("", "or", "and", "nor", "和", "或", "与", "及") for word in between):
            groups[-1].append(hit)
        else:
            groups.append([hit])
    kept = [hit[0] for group in groups if not denied(text, group[0].start(), group[-1].end()) for hit in group]
    kept = [one for at, one in enumerate(kept) if at == 0 or kept[at - 1] != one]
    return kept[0] if len(kept) == 1 else None


def whole_answer(text, letters, options):
    """The choice of a text that is nothing but a letter or an option."""
    text = bare(text)
    if text == "":
        return None
    found = [one for one in letters if one.lower() == text]
    return next(iter(found + [one for one, option in zip(letters, options) if option == text]), None)


def begun_option(line, options):
    """The place of the option with which a line begins, and how much of the line is behind it."""
    line = line.lstrip(SIGNS)
    found = []
    for at, option in enumerate(options):
        behind = line[len(option) :]
        sign = behind[:1] == "" or (behind[0] in SIGNS and behind[0] != " ")
        if len(option) > 1 and line.startswith(option) and (sign or behind.lstrip(" ")[:1] in ("(", "-", "–", "—")):
            found.append((len(behind), at))
    return min(found, default=None)


def opening_option(text, letters, options):
    """The option with whose text a text begins, if that is a sentence or clause of its own."""
    text = straight(text.lstrip(SIGNS))
    begun = begun_option(text, options)
    if begun is None:
        return None
    behind = text[len(text) - begun[0] :]
    next_text = behind.lstrip(SIGNS + "/")
    gap = behind[: len(behind) - len(next_text)]
    next_text = next_text.removeprefix("or ") if next_text.startswith("or ") else next_text.removeprefix("and ")
    other = not set(gap) & set(".!。！\n") and any(one and next_text.startswith(one) for one in options)
    listed = [found[1] for found in (begun_option(line, options) for line in lines_of(text)) if found]
    if other or denied_first(behind) or listed == list(range(len(options))) or begun[1] >= len(letters):
        return None
    return letters[begun[1]]


def opening_letter(text, letters):
    """The letter with which a text opens."""
    head = text.lstrip(BLANKS + "([{【「\"'*")
    first, behind = head[:1], head[1:]
    if first == "" or not first.isascii() or first.upper() not in letters:
        return None
    heads = [line.lstrip(BLANKS + "([{*-") for line in lines_of(text)]
    heads = [line[0] for line in heads if line and not re.match(r"[A-Za-z0-9'’]", line[1:]) and line[0] in letters]
    listed = len(letters) > 1 and heads == list(letters)
    other = joined(behind, letters) or denied_first(behind) or is_word(first, behind) or listed
    return None if other or re.match(r"[A-Za-z0-9'’]", behind) else first.upper()


def stated_choice(rest, letters, options):
    """The choice in what follows a label or a phrase."""
    rest = rest.lstrip(SIGNS)
    while True:
        heads = (word for word in WORDS["before_letters"] if rest[: len(word)].lower() == word)
        ends = lambda word: not word.isascii() or not re.match(r"[A-Za-z0-9'’]", rest[len(word) :])  # noqa: E731
        word = next((word for word in heads if ends(word)), None)
        if word is None:
            break
        rest = rest[len(word) :].lstrip(SIGNS)
    found = whole_answer(rest, letters, options) or opening_option(rest, letters, options)
    return found or opening_letter(rest, letters) or only_letter(rest, letters)


def last_statement(text, letters, options):
    """What the last statement of the answer says, in a list; an empty one without a statement."""
    last, lines = [], lines_of(text)
    for at, line in enumerate(lines):
        rest = label_end(line, WORDS["labels"])
        if rest is not None and rest.strip(SIGNS) == "":
            rest = next((line for line in lines[at + 1 :] if line.strip(SIGNS)), None)
        if rest is not None:
            last = [stated_choice(rest, letters, options)]
        lower = narrow_case(line)
        hits = (hit.span() for phrase in WORDS["phrases"] for hit in re.finditer(re.escape(phrase), lower))
        for start, end in sorted(hits):
            rest = line[end:]
            before = straight(re.split("[.,;!?，。；]", lower[:start])[-1])
            goes_on = lower[start:end].isascii() and re.match(r"[A-Za-z0-9'’]", rest)
            if goes_on or any(doubt in before for doubt in WORDS["doubts"]):
                continue
            sentence = rest[: rest.index(". ") + 1] if ". " in rest else rest
            choice = stated_choice(sentence, letters, options) or stated_choice(rest, letters, options)
            last = [choice] if choice else last
    return last


def answer_in_object(text):
    """The answer in a JSON object, if the reply is one."""
    try:
        said = json.loads(text)
    except ValueError:
        return text
    found = [said[key] for key in WORDS["keys"] if isinstance(said.get(key), str)] if isinstance(said, dict) else []
    return found[0] if found else text


def letter(text, letters, options=()):
    """The letter of the option that a reply chooses, by its letter or its text."""
    text = answer_in_object(narrow(text).strip()).strip()
    options = [bare(narrow(option)) for option in options]
    found = whole_answer(text, letters, options)
    if found:
        return found
    stated = last_statement(text, letters, options)
    if stated:
        return stated[0]
    found = opening_option(text, letters, options) or opening_letter(text, letters)
    if found or any(refusal in straight(text) for refusal in WORDS["refusals"]):
        return found
    return only_letter(text, letters)


def words(text):
    return " ".join(re.findall(r"[\w']+", straight(text)))


def option(text, letters, options):
    """A letter, or the words of one option, also within a sentence."""
    named = letter(text, letters, options)
    if named is not None:
        return named
    whole = f" {words(text)} "
    # A denial reaches to the end of its clause.
    clauses = [f" {words(clause)} " for clause in re.split(r"[.,;!?\n]", text)]

    def within(one):
        name = f" {words(one)} "
        holding = [clause for clause in clauses if name in clause]
        return name in whole and (not holding or any(has_name(clause, name) for clause in holding))

    found = [known for known, one in zip(letters, options) if within(one)]
    return found[0] if len(found) == 1 else None


def one_of(text, names):
    text = narrow(text)
    exact = text.strip(BLANKS + "。.，,“”\"'「」*`【】[]()").lower()
    same = [name for name in names if name.lower() == exact]
    if same or exceptional(text):
        return same[0] if same else None
    within = [name for name in names if has_name(text.lower(), name.lower())]
    return within[0] if len(within) == 1 else None


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


def plain_number(text):
    """The whole number that is all of a reply, bare or behind a label."""
    text = narrow(text)
    rest = labelled(text, WORDS["number_labels"])
    text = (text if rest is None else rest).strip(BLANKS + "*_`\"'").rstrip(".")
    found = re.fullmatch(r"(-?[0-9]+)(?:\.0+)?", text)
    return int(found[1]) if found else None


def number(text, low, high, alone=False):
    """The number in double brackets, or one that stands alone; None off the scale."""
    found = plain_number(text) if alone else None
    if found is None:
        text = narrow(text).replace("【", "[").replace("】", "]")
        found = re.findall(r"\[\[\s*([0-9]+)(?:\.0+)?\s*\]\]", text)
        found = int(found[-1]) if found else None
    return found if found is not None and low <= found <= high else None


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
        return letter(text, item["choices"], item.get("options", ()))
    if form["kind"] == "tag":
        return tag(text, item["choices"], form["anywhere"])
    if form["kind"] == "label":
        named = one_of(text, item["choices"])
        other = one_of(text, form["others"]) if named is None else None
        return item["choices"][form["others"].index(other)] if other else named
    if form["kind"] == "labels":
        lower = text.lower()
        said = set(re.findall(r"\w+", lower))
        return "; ".join(code for code in form["codes"] if code in said and has_name(lower, code)) or None
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
