"""Families of the rules of torch.optim."""
