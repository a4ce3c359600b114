/* test_batch_linked.cu - trid_batch.h's launches as functions with C linkage: tests of test_batch.cu, which is included.
   MIT licence, see LICENSE. */
#define TEST_BATCH_LINKED
#define TRID_BATCH_IMPLEMENTATION
#include "test_batch.cu"
