"""Rules whose step takes the gradients of several workers."""
