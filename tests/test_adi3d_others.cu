/* test_adi3d_others.cu - the other half of the instances of test_adi3d.cu, which is included.
   MIT licence, see LICENSE. */
#define TEST_ADI3D_OTHERS
#include "test_adi3d.cu"
