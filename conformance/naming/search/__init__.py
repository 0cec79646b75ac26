"""The search for a formula that nobody has declared: thousands of edited ones, run beside a target."""
