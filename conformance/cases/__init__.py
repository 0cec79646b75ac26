"""What is tried: complete, exact training runs, and how they are drawn and made small."""
