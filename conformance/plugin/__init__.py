"""The pytest plugin, its checks, and property tests by Hypothesis."""
