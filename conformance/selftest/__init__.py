"""Proof that the suite notices faults and accepts honest implementations; nothing above imports it."""
