"""Text: sentences, words and their offsets, and the sub-words of an encoder."""
