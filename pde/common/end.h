/* end.h - the last room of the solvers in pde/, read once for each model: refuses functions without their macros, and
   undefines the model's macros.
   MIT licence, see LICENSE. */

/* A function of the model whose macro is not defined would never be called. Here its name becomes a type, so that the
   program does not compile ("redeclared"). */
#ifndef FD_MODEL_FACE
typedef char FD_MODEL_OF(face);
#endif
#ifndef FD_MODEL_CHANGE
typedef char FD_MODEL_OF(change);
#endif
#ifndef FD_MODEL_EXERCISE
typedef char FD_MODEL_OF(exercise);
#endif

#undef FD_FACTORS
#undef FD_MODEL
#undef FD_MODEL_FACE
#undef FD_MODEL_CHANGE
#undef FD_MODEL_EXERCISE
#undef FD_MODEL_MIXED
#undef FD_MODEL_STEADY
#undef FD_MODEL_INDEPENDENT
