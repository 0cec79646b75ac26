"""Identifying: from the runs of a rejected engine to the one explanation that holds in all of them."""
