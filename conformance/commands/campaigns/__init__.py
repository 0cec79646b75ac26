"""Campaigns: checks, certifications and searches as tasks that any number of machines share."""
