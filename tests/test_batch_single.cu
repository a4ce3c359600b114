/* test_batch_single.cu - trid/batch.h in single precision: the tests of test_batch.cu, which is included.
   MIT licence, see LICENSE. */
#define TEST_BATCH_SINGLE
#include "test_batch.cu"
