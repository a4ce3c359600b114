/* test_batch_long_single.cu - test_batch_long.cu, which is included, in single precision.
   MIT licence, see LICENSE. */
#define TEST_BATCH_SINGLE
#include "test_batch_long.cu"
