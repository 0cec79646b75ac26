"""PyTorch (``torch.optim``) as a target: the single-tensor, foreach and fused implementations, judged apart."""
