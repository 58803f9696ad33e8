//! A quick part of what `make faults` does: it takes about a minute, and every kind of fault is in it.

mod plans;
