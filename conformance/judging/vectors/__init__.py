"""Test vectors: cases with their expected values and allowed errors, for who does not run optimetry."""
