"""The formats of benchmarks and published runs, all of them JSON."""
