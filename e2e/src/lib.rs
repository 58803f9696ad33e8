//! What the tests on real pods share: the operator in a cluster, under the roles that it ships with.
