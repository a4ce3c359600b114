/* test_batch_linked.cu - trid/batch.h's functions with C linkage, by tests of test_batch.cu, which is included.
   MIT licence, see LICENSE. */
#define TEST_BATCH_LINKED
#define TRID_BATCH_IMPLEMENTATION
#include "test_batch.cu"
