"""PyTorch (``torch.optim``) as a target: its implementations are judged apart."""
