"""The model in PyTorch: words in, charts of span scores out.

The network is `network.Network`; `build.new` makes one, `checkpoint` keeps one, and
`torch_scorer.TorchScorer` scores sentences with one. Importing this package imports nothing yet.
"""
