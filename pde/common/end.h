/* end.h - the last room of the solvers in pde/: undefines a model's macros after both precisions have been read.
   MIT licence, see LICENSE. */
#undef FD_FACTORS
#undef FD_MODEL
#undef FD_MODEL_FACE
#undef FD_MODEL_CHANGE
#undef FD_MODEL_EXERCISE
#undef FD_MODEL_MIXED
#undef FD_MODEL_STEADY
#undef FD_MODEL_INDEPENDENT
