/* test_batch_long_single.cu - systems that are solved in levels in single precision: test_batch_long.cu, which is included.
   MIT licence, see LICENSE. */
#define TEST_BATCH_SINGLE
#include "test_batch_long.cu"
