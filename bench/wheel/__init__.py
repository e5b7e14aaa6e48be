"""The benchmarks of the timers in memory. This file keeps a package of the same name that is installed from being imported."""
