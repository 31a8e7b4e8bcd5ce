"""Treebanks made for tests, true to the distributed forms: every text holds one tree naming it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from treewright.trees import Tree

# As in the Penn Treebank's files: indented, nameless root, function tags, indices and traces.
PTB_TREE = """
( (S
    (NP-SBJ-1 (NNP {name}) )
    (VP (VBD was)
      (VP (VBN read)
        (NP (-NONE- *-1) )
        (PP-LOC (IN in) (NP (NN town) ))))
    (. .) ))
"""
PTB_TIDY = (
    "(TOP (S (NP (NNP {name})) (VP (VBD was) (VP (VBN read) (PP (IN in) (NP (NN town))))) (. .)))"
)

CTB_FILE = """\
<DOC>
<DOCID>
XIN (CMN) {name}
</DOCID>
<HEADER>
<DATE> 1994-01-27 </DATE>
</HEADER>
<BODY>
<HEADLINE>
<S ID=1>
( (IP-HLN (NP-SBJ (NP-PN (NR 上海)
                         (NR 浦东))
                  (NP (NN {name})))
          (VP (VV 发展))) )
</S>
</HEADLINE>
<TEXT>
<P>
<S ID=2>
( (CP (WHNP-1 (-NONE- *OP*))) )
</S>
</P>
</TEXT>
</BODY>
</DOC>
"""
CTB_TIDY = "(TOP (IP (NP (NP (NR 上海) (NR 浦东)) (NP (NN {name}))) (VP (VV 发展))))"


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode(encoding))
    return path


def wsj(folder: Path, texts: Iterable[int]) -> Path:
    """Texts by number, each in its section's folder."""
    for number in texts:
        name = f"{number:04}"
        write(folder / name[:2] / f"wsj_{name}.mrg", PTB_TREE.format(name=name))
    return folder


def ctb(folder: Path, articles: Iterable[int], suffix: str = "fid", digits: int = 3) -> Path:
    """Articles by number; odd ones in GB18030, even ones in UTF-8."""
    for number in articles:
        text = CTB_FILE.format(name=f"a{number}")
        encoding = "gb18030" if number % 2 else "utf-8"
        write(folder / f"chtb_{number:0{digits}}.{suffix}", text, encoding)
    return folder


def second_words(trees: Iterable[Tree]) -> list[str]:
    """What names the trees of `sentence`."""
    return [tree.words()[1] for tree in trees]


def sentence(name: str, label: str = "S") -> str:
    return f"( ({label} (NP-SBJ (DT the) (NN {name})) (VP (VBZ stands))) )\n"
