"""TensorFlow.js (``tf.train``) as a target: a program that Node runs, on the backend in plain JavaScript."""
