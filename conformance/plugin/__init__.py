"""The pytest plugin and its checks."""
