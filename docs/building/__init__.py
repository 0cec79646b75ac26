"""What the documentation site is built with: pages made of declarations, formulas, links and pictures."""
