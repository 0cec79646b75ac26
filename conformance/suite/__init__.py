"""The conformance suite as pytest tests; the modules here declare nothing but tests."""
