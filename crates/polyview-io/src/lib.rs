//! Readers and writers of polyview: CSV, TSV, gzip, NPY, NPZ, with errors that name file, line and column
