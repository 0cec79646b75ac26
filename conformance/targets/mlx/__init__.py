"""MLX (``mlx.optimizers``) as a target, on the CPU."""
