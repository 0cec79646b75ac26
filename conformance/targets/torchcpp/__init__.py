"""PyTorch's C++ frontend (``torch::optim``) as a target: a program that g++ compiles against torch's wheel."""
