//! What is looked at and filled in before {{a}} `{{Kind}}` is taken. Plain functions: no IO.

use kubewright::webhook;

use super::{{Kind}};
