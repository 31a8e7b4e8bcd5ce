"""EVALB as its C program works: a character at a time, every bracket against every other.

The oracle for the scorer. It knows no multisets and no sweeps, and follows the steps of the
program, its arrays included, so that it can be read beside it.
"""

from __future__ import annotations

from typing import Any

from treewright.evaluation import Parameters

SPACE = " \t\n\r\f\v"
DELETED = 5


def row(gold: str, predicted: str, parameters: Parameters) -> tuple[Any, ...]:
    """Length, status, matched, gold, predicted, crossing, words, correct tags, message."""
    one, two = read(gold, parameters), read(predicted, parameters)
    if not two["terminals"]:
        return (one["length"], 2, 0, 0, 0, 0, 0, 0, "")
    if len(one["terminals"]) != len(two["terminals"]):
        fix_quotes(one, two, parameters)
    counts = len(one["terminals"]), len(two["terminals"])
    if counts[0] != counts[1]:
        message = f"Length unmatch ({counts[0]}|{counts[1]})"
        return (one["length"], 1, 0, 0, 0, 0, 0, 0, message)
    for (word, _), (other, _) in zip(one["terminals"], two["terminals"], strict=True):
        if not same(word, other, parameters.equal_words):
            return (one["length"], 1, 0, 0, 0, 0, 0, 0, f"Words unmatch ({word}|{other})")
    massage(one, parameters)
    massage(two, parameters)
    tags = sum(
        same(tag, other, parameters.equal_labels)
        for (_, tag), (_, other) in zip(one["terminals"], two["terminals"], strict=True)
    )
    kept = [sum(b["result"] != DELETED for b in side["brackets"]) for side in (one, two)]
    matched = match(one["brackets"], two["brackets"], parameters)
    crossed = crossing(one["brackets"], two["brackets"])
    return (one["length"], 0, matched, *kept, crossed, counts[0], tags, "")


def read(text: str, parameters: Parameters) -> dict[str, Any]:
    terminals: list[tuple[str, str]] = []
    brackets: list[dict[str, Any]] = []
    quotes: list[dict[str, Any]] = []
    stack: list[int] = []
    length = 0
    text += "\0"
    p = 0
    while text[p] != "\0":
        if text[p] in SPACE:
            p += 1
        elif text[p] == "(":
            p += 1
            label = ""
            while text[p] not in SPACE + "()":
                label += text[p]
                p += 1
            q = p
            if text[q] in SPACE:
                while text[q] in SPACE:
                    q += 1
                word = ""
                while text[q] not in SPACE + "()":
                    word += text[q]
                    q += 1
                if text[q] == ")":
                    if label not in parameters.delete_labels_for_length:
                        length += 1
                    if label in parameters.quote_labels and word in ("'", '"', "/"):
                        quotes.append(
                            {
                                "term": (word, label),
                                "index": len(terminals),
                                "bracket": len(brackets),
                                "ends": list(stack),
                            }
                        )
                    if label not in parameters.delete_labels:
                        terminals.append((word, label))
                    p = q + 1
                    continue
                assert text[q] == "(", "more than two elements in a bracket"
            stack.append(len(brackets))
            brackets.append({"start": len(terminals), "end": -1, "label": label, "result": 9})
        elif text[p] == ")":
            brackets[stack.pop()]["end"] = len(terminals)
            p += 1
        else:
            raise AssertionError("reading sentence")
    assert not stack, "bracketing is unbalanced"
    return {"terminals": terminals, "brackets": brackets, "quotes": quotes, "length": length}


def fix_quotes(one: dict[str, Any], two: dict[str, Any], parameters: Parameters) -> None:
    delete = parameters.delete_labels
    for i in range(len(two["quotes"])):
        index = two["quotes"][i]["index"]
        for j in range(len(one["quotes"])):
            ours, theirs = one["quotes"][j], two["quotes"][i]
            if ours["index"] == index and ours["term"][1] != theirs["term"][1]:
                if ours["term"][1] in delete and theirs["term"][1] not in delete:
                    reinsert(ours, one)
                    for quote in one["quotes"][j:]:
                        quote["index"] += 1
                elif theirs["term"][1] in delete and ours["term"][1] not in delete:
                    reinsert(theirs, two)
                    for quote in two["quotes"][i:]:
                        quote["index"] += 1


def reinsert(quote: dict[str, Any], side: dict[str, Any]) -> None:
    side["terminals"].insert(quote["index"], quote["term"])
    for k, bracket in enumerate(side["brackets"]):
        if k >= quote["bracket"]:
            bracket["start"] += 1
            bracket["end"] += 1
    for k in quote["ends"]:
        side["brackets"][k]["end"] += 1


def massage(side: dict[str, Any], parameters: Parameters) -> None:
    for bracket in side["brackets"]:
        bracket["result"] = 0
        if bracket["start"] == bracket["end"]:
            bracket["result"] = DELETED
            continue
        for at, character in enumerate(bracket["label"]):
            if character in "-=":
                bracket["label"] = bracket["label"][:at]
                break
        for label in parameters.delete_labels:
            if same(bracket["label"], label, parameters.equal_labels):
                bracket["result"] = DELETED


def match(
    gold: list[dict[str, Any]], predicted: list[dict[str, Any]], parameters: Parameters
) -> int:
    matched = 0
    for one in gold:
        for two in predicted:
            if (
                one["result"] != DELETED
                and two["result"] == 0
                and (one["start"], one["end"]) == (two["start"], two["end"])
                and (
                    not parameters.labelled
                    or same(one["label"], two["label"], parameters.equal_labels)
                )
            ):
                one["result"] = two["result"] = 1
                matched += 1
                break
    return matched


def crossing(gold: list[dict[str, Any]], predicted: list[dict[str, Any]]) -> int:
    count = 0
    for two in predicted:
        for one in gold:
            if DELETED in (one["result"], two["result"]):
                continue
            if (one["start"] < two["start"] < one["end"] < two["end"]) or (
                two["start"] < one["start"] < two["end"] < one["end"]
            ):
                count += 1
                break
    return count


def same(one: str, two: str, pairs: tuple[tuple[str, str], ...]) -> bool:
    return one == two or (one, two) in pairs or (two, one) in pairs
