"""Real bugs of optimizers as targets: would they have been noticed?"""
