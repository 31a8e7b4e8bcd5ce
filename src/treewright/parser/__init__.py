"""The parser: raw text or words in, trees out. See docs/parsing.md."""

from treewright.parser.loading import load
from treewright.parser.options import Options
from treewright.parser.parser import Parser
from treewright.parser.sentence import Document, Input, Sentence

__all__ = ["Document", "Input", "Options", "Parser", "Sentence", "load"]
