"""TensorFlow's training kernels (``tf.raw_ops.ResourceApply…``) as a target, and its clips."""
