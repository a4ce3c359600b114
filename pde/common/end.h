/* end.h - the last room of the solvers in pde/: a model has been read, and what it was announced by is forgotten.
   MIT licence, see LICENSE. */
#undef FD_FACTORS
#undef FD_MODEL
#undef FD_MODEL_FACE
#undef FD_MODEL_CHANGE
#undef FD_MODEL_EXERCISE
#undef FD_MODEL_MIXED
#undef FD_MODEL_STEADY
#undef FD_MODEL_INDEPENDENT
