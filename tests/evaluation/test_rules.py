"""Each rule of EVALB on the smallest sentence that shows it."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from treewright.errors import (
    EmptyInput,
    EncodingError,
    InputError,
    NotFound,
    ParameterError,
    StrayWord,
    TooManyErrors,
    UnclosedBracket,
    UnequalCounts,
    UnopenedBracket,
)
from treewright.evaluation import Parameters, Report, SentenceScore, Status, evaluate
from treewright.trees import Tree

GOLD = "(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .)))"
PLAIN = Parameters()


def score(gold: str, predicted: str, parameters: Parameters | None = None) -> SentenceScore:
    return evaluate([gold], [predicted], parameters).scores[0]


def test_root_and_punctuation_do_not_count() -> None:
    result = score(GOLD, GOLD.replace("(. .)", "(. ?)"))
    assert (result.length, result.words) == (4, 3)
    assert (result.gold, result.matched, result.recall) == (3, 3, 100.0)


def test_without_parameters_everything_counts() -> None:
    result = score(GOLD, GOLD, PLAIN)
    assert (result.length, result.words, result.gold) == (4, 4, 4)


def test_traces_do_not_count_in_the_length() -> None:
    traced = "(S (NP (-NONE- *)) (VP (VB go)))"
    result = score(traced, "(S (VP (VB go)))")
    assert (result.length, result.gold, result.matched) == (1, 2, 2)


def test_labels_are_cut_and_tags_are_not() -> None:
    result = score("(S-X=1 (NP-SBJ-1 (NN-A a)))", "(S (NP=2 (NN a)))", PLAIN)
    assert (result.matched, result.correct_tags) == (2, 0)


def test_a_bracket_that_begins_with_a_hyphen_is_cut_to_nothing() -> None:
    assert score("(-NONE- (NN a))", "(=X (NN a))").matched == 1


def test_equal_labels_match_as_brackets_and_as_tags() -> None:
    result = score("(S (PRT (ADVP up)))", "(S (ADVP (PRT up)))")
    assert (result.matched, result.correct_tags) == (2, 1)


def test_labels_equal_to_a_deleted_one_are_deleted_as_brackets_alone() -> None:
    parameters = Parameters(delete_labels=("X",), equal_labels=(("X", "Y"),))
    result = score("(Y (Y a))", "(Y (Y a))", parameters)
    assert (result.gold, result.words) == (0, 1)


def test_equality_of_labels_does_not_chain() -> None:
    chain = Parameters(equal_labels=(("A", "B"), ("B", "C")))
    assert score("(A (N w))", "(C (N w))", chain).matched == 0
    assert score("(A (B (N w)))", "(B (C (N w)))", chain).matched == 2
    # The first gold bracket takes the first free one, even if the second then finds none.
    assert score("(B (A (N w)))", "(A (C (N w)))", chain).matched == 1


def test_equal_words() -> None:
    parameters = Parameters(equal_words=(("This", "this"),))
    assert score("(S (D This))", "(S (D this))", parameters).status is Status.SCORED
    assert score("(S (D This))", "(S (D this))").message == "Words unmatch (This|this)"


def test_unlabelled() -> None:
    result = score("(S (NP (NN a)) (NN b))", "(X (Y (NN a)) (NN b))", Parameters(labelled=False))
    assert result.matched == 2


def test_a_bracket_is_used_once() -> None:
    result = score("(NP (NP (NN a)))", "(NP (NP (NP (NN a))))")
    assert (result.matched, result.gold, result.predicted) == (2, 2, 3)


def test_crossing_is_counted_by_predicted_brackets() -> None:
    gold = "(S (A (N a) (N b)) (B (N c) (N d)))"
    assert score(gold, "(S (N a) (X (Y (N b) (N c))) (N d))").crossing == 2
    assert score("(S (N a) (X (Y (N b) (N c))) (N d))", gold).crossing == 2
    assert score(gold, "(S (X (N a) (N b) (N c)) (N d))").crossing == 1


def test_a_line_may_hold_fragments_or_nothing_in_a_bracket() -> None:
    result = score("(S (NP (NN a)) (VP (VB b)))", "(NP (NN a)) (X) (Y (Z)) (VP (VB b))")
    assert (result.matched, result.predicted, result.words) == (2, 2, 2)


def test_a_word_may_be_empty() -> None:
    assert score("(S (NN ))", "(S (NN x))").message == "Words unmatch (|x)"


def test_a_missing_tree_is_skipped() -> None:
    for nothing in ("", "  \t", "(S)", "(TOP (. .))"):
        result = score(GOLD, nothing)
        assert (result.status, result.length, result.words) == (Status.SKIPPED, 4, 0)


def test_none_is_a_missing_tree() -> None:
    tree = Tree.from_brackets(GOLD)
    report = evaluate([tree, GOLD], [None, GOLD])
    assert report.text() == evaluate([GOLD, GOLD], ["", GOLD]).text()
    assert report.scores[0].status is Status.SKIPPED
    assert report.comparison(1).extra == []
    assert evaluate([None], [tree]).messages == ["1 : Length unmatch (0|3)"]


def test_a_missing_gold_tree_is_an_error() -> None:
    assert score("", GOLD).message == "Length unmatch (0|3)"


def test_other_words_are_an_error() -> None:
    report = evaluate([GOLD, GOLD], [GOLD, GOLD.replace("dog", "cat")])
    assert report.messages == ["2 : Words unmatch (dog|cat)"]
    assert (report.summary.errors, report.summary.valid, report.recall) == (1, 1, 100.0)


def test_a_quotation_mark_that_one_side_took_for_a_word_is_put_back() -> None:
    gold = "(S (NP (`` \") (NN a) ('' \")) (VP (VB b)))"
    predicted = '(S (NP (`` ") (NN a) (NN ")) (VP (VB b)))'
    assert score(gold, predicted).message == "Length unmatch (2|3)"
    there, back = score(gold, predicted, Parameters.new()), score(predicted, gold, Parameters.new())
    for result in (there, back):
        assert (result.matched, result.gold, result.words, result.correct_tags) == (3, 3, 3, 2)


def test_one_mark_may_be_put_back_twice() -> None:
    gold = '(S (`` ") (NN a))'
    result = score(gold, '(S (NN ") (NN ") (NN a))', Parameters.new())
    assert (result.status, result.words, result.matched) == (Status.SCORED, 3, 1)


def test_marks_are_left_alone_where_lengths_agree() -> None:
    result = score('(S (`` ") (NN "))', '(S (NN ") (`` "))', Parameters.new())
    assert result.words == 1


def test_the_cut_off_goes_by_the_length_of_the_gold_sentence() -> None:
    report = evaluate([GOLD, "(S (NN a))"], [GOLD, "(X (NN a))"], Parameters(cutoff=3))
    assert (report.summary.valid, report.short.valid) == (2, 1)
    assert report.short.recall == 0.0
    assert "-- len<=3 --\nNumber of sentence        =      1\n" in report.text()


def test_too_many_errors_end_the_scoring() -> None:
    wrong = GOLD.replace("dog", "cat")
    limit = Parameters(max_error=2)
    assert evaluate([GOLD] * 3, [wrong] * 3, limit).summary.errors == 3
    with pytest.raises(TooManyErrors, match=r"^sentence 5: Words unmatch \(dog\|cat\); .* 4 ") as e:
        evaluate([GOLD, *[GOLD] * 9], [GOLD, *[wrong] * 9], limit)
    assert e.value.place is not None


def test_text_without_a_scored_sentence() -> None:
    text = evaluate([GOLD], [""]).text()
    assert "\n      0     0     0.00\n" in text
    assert text.count("Bracketing FMeasure       =   -nan\n") == 2


def test_text_with_brackets_on_one_side_only() -> None:
    text = evaluate(["(S (NN a))"], ["(NN a)"]).text()
    assert "=\n      1     1   100.00\n=== Summary" in text


def test_deep_trees() -> None:
    depth = 50_000
    left, right = Tree("N", word="a"), Tree("N", word="a")
    for _ in range(depth):
        left = Tree("X", [left, Tree("N", word="a")])
        right = Tree("X", [Tree("N", word="a"), right])
    result = evaluate([left], [right]).scores[0]
    assert (result.matched, result.gold, result.crossing) == (1, depth, depth - 1)
    line = "(X " * depth + "(N a)" + ")" * depth
    assert evaluate([line], [line]).comparison(1).text().count("\n") == depth + 2


def _labels(report: Report) -> dict[str, tuple[int, int, int, float]]:
    return {s.label: (s.gold, s.predicted, s.matched, s.f1) for s in report.labels}


def test_a_label_that_is_wrong_counts_for_both() -> None:
    report = evaluate(["(S (NP (NN a)))"], ["(S (VP (NN a)))"])
    assert _labels(report) == {"S": (1, 1, 1, 100.0), "NP": (1, 0, 0, 0.0), "VP": (0, 1, 0, 0.0)}


def test_equal_labels_are_one_row() -> None:
    report = evaluate(["(S (PRT (RP up)))"], ["(S (ADVP (RP up)))"])
    assert report.f1 == 100.0
    assert _labels(report) == {"S": (1, 1, 1, 100.0), "ADVP=PRT": (1, 1, 1, 100.0)}
    assert [row["label"] for row in report.as_dict()["labels"]] == ["ADVP=PRT", "S"]


def test_labels_that_are_equal_by_way_of_others_are_one_row() -> None:
    chain = Parameters(equal_labels=(("C", "B"), ("E", "D"), ("B", "A"), ("A", "C")))
    report = evaluate(["(A (B (C (N w))))"], ["(C (D (E (N w))))"], chain)
    assert _labels(report) == {"A=B=C": (3, 1, 1, 50.0), "D=E": (0, 2, 0, 0.0)}


def test_where_labels_do_not_count_there_is_one_row() -> None:
    unlabelled = Parameters(labelled=False, equal_labels=(("A", "B"),))
    report = evaluate(["(S (A (N w)) (N v))"], ["(X (C (N w)) (Y (N v)))"], unlabelled)
    assert _labels(report) == {"any label": (2, 3, 2, 80.0)}


def test_lengths_fall_into_groups() -> None:
    def line(words: int) -> str:
        return "(S " + "(NN a) " * words + ")"

    lines = [line(n) for n in (1, 10, 11, 35)]
    groups = evaluate(lines, lines).by_length()
    assert [(g.low, g.high, g.summary.valid) for g in groups] == [
        (1, 10, 2),
        (11, 20, 1),
        (31, 40, 1),
    ]
    assert len(evaluate(lines, lines).by_length(width=40)) == 1


def test_the_worst_come_first() -> None:
    gold = ["(S (NP (NN a)))", GOLD, "(S (NP (NN a)))", "(S (NP (NN a)))", GOLD]
    predicted = ["(X (Y (NN a)))", GOLD, "(X (Y (Z (NN a))))", "(S (NN a))", ""]
    worst = evaluate(gold, predicted).worst(10)
    assert [comparison.score.number for comparison in worst] == [3, 1, 4]
    assert worst[2].missing == [(0, 1, "NP")]
    assert worst[2].extra == []


@pytest.mark.parametrize(
    ("line", "error", "place"),
    [
        ("(S (NN a)", UnclosedBracket, "line 1, column 1: '(S'"),
        ("(S (NN a)) (S (X (NN b))", UnclosedBracket, "line 1, column 12: '(S'"),
        ("(S (NN a)))", UnopenedBracket, "line 1, column 11: "),
        ("a (S (NN a))", StrayWord, "line 1, column 1: the word 'a'"),
        ("(S (NN a b))", StrayWord, "line 1, column 8: the word 'a'"),
        ("(S a (NN b))", StrayWord, "line 1, column 4: the word 'a'"),
    ],
)
def test_what_is_no_sentence_is_refused(line: str, error: type[Exception], place: str) -> None:
    with pytest.raises(error) as caught:
        evaluate([line], [line])
    assert str(caught.value).startswith(place)


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        ([GOLD, 3], [GOLD, GOLD], "sentence 2: gold: an int is neither a tree nor a line"),
        ([GOLD], [Path("a")], r"sentence 1: predicted: a \w+ is neither a tree nor a line"),
        ([GOLD], b"(S", "sentence 1: predicted: an int is neither a tree nor a line"),
        ([GOLD], [[GOLD]], "sentence 1: predicted: a list is neither a tree nor a line"),
        (Tree("N", word="a"), [GOLD], "gold trees: wanted are .* several trees .*, not a Tree"),
        ([GOLD], Tree("N", word="a"), "predicted trees: wanted are .*, not a Tree"),
        ([GOLD], None, "predicted trees: wanted are .*, not a NoneType"),
    ],
)
def test_what_is_no_tree_is_refused(gold: Any, predicted: Any, message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        evaluate(gold, predicted)


def test_a_report_is_asked_for_what_it_has() -> None:
    report = evaluate([GOLD] * 3, [GOLD] * 3)
    for number in (0, -1, 4):
        message = f"^sentence {number}: there is no such sentence, only 1 to 3$"
        with pytest.raises(ParameterError, match=message):
            report.comparison(number)
    with pytest.raises(ParameterError, match="cannot be 0 wide"):
        report.by_length(0)
    with pytest.raises(ParameterError, match="cannot be -1 worst"):
        report.worst(-1)
    assert report.worst(0) == []


def test_counts_must_be_equal() -> None:
    for gold, predicted in ((3, 1), (1, 3)):
        with pytest.raises(
            UnequalCounts, match=f"^line 2: gold trees: {gold}, predicted trees: {predicted}"
        ):
            evaluate([GOLD] * gold, [GOLD] * predicted)
    # A lost line in the middle shifts all others, which would be errors.
    lines = [GOLD.replace("dog", f"dog{n}") for n in range(30)]
    with pytest.raises(UnequalCounts, match="gold trees: 30, predicted trees: 29"):
        evaluate(lines, lines[1:])


def test_nothing_at_all(tmp_path: Path) -> None:
    with pytest.raises(EmptyInput):
        evaluate([], [])
    empty = tmp_path / "empty.mrg"
    empty.touch()
    with pytest.raises(EmptyInput, match=r"empty\.mrg: holds no trees"):
        evaluate(empty, [GOLD])


def test_files_and_open_files(tmp_path: Path) -> None:
    path = tmp_path / "gold.mrg"
    path.write_bytes(f"{GOLD}\r\n\r\n{GOLD}".encode())
    with path.open(encoding="utf-8") as lines:
        report = evaluate(path, lines)
    assert (report.summary.sentences, report.summary.skipped, report.f1) == (3, 1, 100.0)
    path.write_bytes(b"(S (NN \xff))\n")
    with pytest.raises(EncodingError, match=r"gold\.mrg:1:8"):
        evaluate(path, path)


def test_reports_can_be_sent_to_another_process() -> None:
    report = evaluate([GOLD], [GOLD.replace("NP", "ADJP")])
    assert report.labels
    assert pickle.loads(pickle.dumps(report)).text() == report.text()


# Parameter files


def test_parameters_as_shipped() -> None:
    collins, new, nk = Parameters.collins(), Parameters.new(), Parameters.nk()
    assert collins.delete_labels == ("TOP", "-NONE-", ",", ":", "``", "''", ".")
    assert collins.delete_labels_for_length == ("-NONE-",)
    assert (collins.max_error, collins.cutoff, collins.labelled) == (10, 40, True)
    assert set(new.delete_labels) - set(collins.delete_labels) == {"S1", "?", "!"}
    assert new.quote_labels == ("``", "''", "POS", "NN", "CD", "VBZ", ":")
    assert nk == Parameters(**{**vars(Parameters.new()), "max_error": 10_000})
    assert Parameters.named("new") == new


def test_shipped_parameters_by_the_names_that_evalb_gives_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("COLLINS.prm", "COLLINS", "Collins", "collins.prm"):
        assert Parameters.named(name) == Parameters.collins()
    assert Parameters.named("NK.PRM") == Parameters.nk()
    for name in ("sub/COLLINS.prm", "collinz"):
        with pytest.raises(NotFound) as caught:
            Parameters.named(name)
        assert str(caught.value) == f"{name}: no such file; built in are collins, new, nk"
    # A file that is there is meant, unless the name is just that of what is shipped.
    for name in ("COLLINS.prm", "collins"):
        Path(name).write_text("MAX_ERROR 7\n", encoding="utf-8")
    assert Parameters.named("COLLINS.prm") == Parameters(max_error=7)
    assert Parameters.named("collins") == Parameters.collins()


def test_a_parameter_file(tmp_path: Path) -> None:
    path = tmp_path / "a.prm"
    path.write_text(
        "## a comment\n\nDEBUG 0\nLABELED 0\nMAX_ERROR 3\nCUTOFF_LEN 7\nDELETE_LABEL #\n"
        "EQ_LABEL A\tB  \nEQ_WORD x y\n",
        encoding="utf-8",
    )
    assert Parameters.named(str(path)) == Parameters(
        max_error=3,
        cutoff=7,
        labelled=False,
        delete_labels=("#",),
        equal_labels=(("A", "B"),),
        equal_words=(("x", "y"),),
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("DELETE_LABELS X", "EVALB has no parameter 'DELETE_LABELS'"),
        ("DELETE_LABEL", "DELETE_LABEL takes one value, not 0"),
        ("DELETE_LABEL X # all of them", "DELETE_LABEL takes one value, not 5"),
        ("EQ_LABEL A", "EQ_LABEL takes two values, not 1"),
        ("CUTOFF_LEN forty", "CUTOFF_LEN takes a whole number, not 'forty'"),
        ("MAX_ERROR -1", "MAX_ERROR is -1, less than 0"),
    ],
)
def test_a_parameter_file_that_makes_no_sense(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "a.prm"
    path.write_text(f"# here\n{line}\n", encoding="utf-8")
    with pytest.raises(ParameterError) as caught:
        Parameters.read(path)
    assert str(caught.value) == f"{path}:2: {message}"


def test_parameters_out_of_range() -> None:
    with pytest.raises(ParameterError, match="cutoff is -1"):
        Parameters(cutoff=-1)
