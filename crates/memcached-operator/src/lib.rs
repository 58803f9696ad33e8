//! Runs memcached on Kubernetes: the pure decisions and the controller that puts them together.
