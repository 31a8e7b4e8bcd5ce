"""The optimizer: which parameters learn, and how fast.

A pretrained encoder has a rate of its own; weight decay is of matrices alone. The rate of a group
is kept beside the one in use, which the schedule changes.
"""

from __future__ import annotations

import torch

from treewright.training.config import TrainConfig
from treewright.training.loss import JointLoss


def make_optimizer(loss: JointLoss, config: TrainConfig) -> torch.optim.Optimizer:
    """Adam over what learns; parameters whose rate is 0 are frozen."""
    network = loss.network
    pretrained = set()
    if not network.config.reads_characters:
        pretrained = {id(parameter) for parameter in network.encoder_parameters()}
    groups: dict[tuple[float, bool], list[torch.nn.Parameter]] = {}
    for parameter in loss.parameters():
        rate = config.encoder_rate if id(parameter) in pretrained else config.top_rate
        if not rate:
            parameter.requires_grad_(False)
            continue
        groups.setdefault((rate, parameter.ndim > 1), []).append(parameter)
    return torch.optim.AdamW(
        [
            {
                "params": parameters,
                "lr": rate,
                "rate": rate,
                "weight_decay": config.weight_decay if matrix else 0.0,
            }
            for (rate, matrix), parameters in groups.items()
        ],
        betas=(config.beta1, config.beta2),
        eps=1e-8,
        fused=True,
    )


def set_rates(optimizer: torch.optim.Optimizer, factor: float) -> None:
    """Multiply the rates of all groups by what the schedule says."""
    for group in optimizer.param_groups:
        group["lr"] = group["rate"] * factor
