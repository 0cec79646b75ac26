"""What else a target may compute: families of rules, and probes that tell them apart."""
