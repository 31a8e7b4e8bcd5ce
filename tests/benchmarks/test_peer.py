"""The peer's pipeline does what it should: every word in its tree, batches apart, right labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_struct")
transformers = pytest.importorskip("transformers")
pytest.importorskip("nltk")

pytestmark = pytest.mark.filterwarnings("ignore:.*arg_constraints")  # torch-struct is older


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of a few numbers, with a tokenizer of a few words."""
    folder = tmp_path_factory.mktemp("encoder")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "dog", "bark", "##s", "(", "."]
    (folder / "vocab.txt").write_text("\n".join(words))
    vocab = {word: number for number, word in enumerate(words)}
    transformers.BertTokenizerFast(vocab=vocab).save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
    )
    torch.manual_seed(1)
    transformers.BertModel(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def sizes() -> object:
    from peer import Sizes

    return Sizes(model_size=32, layers=2, heads=2, key_size=8, inner_size=32, hidden_size=10)


def test_words_end_at_their_last_subword(encoder: Path, sizes: object) -> None:
    from peer import Peer

    peer = Peer(encoder, 5, sizes=sizes)
    ids, last = peer.encode(["the", "dog", "barks", "-LRB-", "."])
    pieces = peer.tokenizer.convert_ids_to_tokens(ids)
    assert [pieces[at] for at in last] == ["[CLS]", "the", "dog", "##s", "(", ".", "[SEP]"]


def test_every_word_once_and_neighbours_make_no_difference(encoder: Path, sizes: object) -> None:
    from peer import Peer

    sentences = [["the", "dog", "barks", "."], ["dog"], ["dog", "the", "."] * 3, ["dog", "."]]
    together, alone = Peer(encoder, 5, sizes=sizes), Peer(encoder, 5, sizes=sizes, most_subwords=1)
    found = together.parse(sentences)
    assert [tree.leaves() for tree in found] == sentences
    assert found == alone.parse(sentences)
    with torch.no_grad():  # real labels anywhere, so that trees have something to differ in
        together.head.labels[-1].bias += 10.0
        alone.head.labels[-1].bias += 10.0
    assert together.parse(sentences) == alone.parse(sentences)
    assert any(len(list(tree.subtrees())) > 8 for tree in together.parse(sentences))


def test_its_lessons_are_learned(encoder: Path, sizes: object) -> None:
    """Two trees by heart: the loss falls to next to nothing, and the labels are gold's."""
    from peer import Lessons, Peer

    from treewright import Tree

    gold = [
        Tree.from_brackets("(S (NP (D the) (N dog)) (VP (V barks)) (. .))"),
        Tree.from_brackets("(NP (NP (N dog)) (NP (D the) (N dog)))"),
    ]
    peer = Peer(encoder, 4, 4, sizes)
    lessons = Lessons(peer, gold, rate=0.02)
    assert lessons.labels == ["NP", "S", "VP"]
    losses = [lessons.step([0, 1]) for _ in range(150)]
    assert losses[-1] < 0.05 * losses[0]
    assert all(loss >= 0 for loss in losses)
    peer.encoder.eval()
    peer.head.eval()
    found = peer.parse([tree.words() for tree in gold])
    for tree, parsed in zip(gold, found, strict=True):
        labels = [
            lessons.labels[int(node.label()) - 1]
            for node in parsed[0].subtrees()
            if node.height() > 2
        ]
        assert labels == [span.label for span in tree.spans()]


def test_a_tree_from_a_chart() -> None:
    from peer import tree_of

    chart = np.zeros((4, 4), dtype=np.int64)
    chart[0, 3], chart[0, 1], chart[2, 2] = 1, 2, 3
    tree = tree_of(chart, ["a", "b", "c", "d"], [7, 7, 8, 9])
    assert str(tree) == "(TOP (1 (2 (7 a) (7 b)) (3 (8 c)) (9 d)))"
    assert tree_of(np.zeros((1, 1), dtype=np.int64), ["a"], [7]).leaves() == ["a"]


def test_batches_are_of_like_length_and_leave_nobody_out() -> None:
    import doctest

    import peer

    assert doctest.testmod(peer).failed == 0
