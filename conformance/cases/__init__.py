"""Cases: complete, exact training runs, and how they are drawn, replayed and shrunk."""
