"""What is made of many runs: tables, benchmarks and plans."""
