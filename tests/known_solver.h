/* known_solver.h - for tests that compare models on the host with answers from outside: a function that solves a
   known_case with a model. The test defines known_case.
   MIT licence, see LICENSE. */
#ifndef KNOWN_SOLVER_H
#define KNOWN_SOLVER_H

/* Defines value_of_MODEL, which solves a case with this model and returns the value at time 0, or NaN. */
#define KNOWN_SOLVER(model)                                                                                            \
    static double value_of_##model(known_case *k, const model##_parameters *parameters)                                \
    {                                                                                                                  \
        const size_t bytes = model##_host_bytes_f64(&k->batch, 1);                                                     \
        void *memory = malloc(bytes);                                                                                  \
        const int wrong = model##_host_f64(&k->batch, parameters, 1, memory, bytes);                                   \
        CHECK(!wrong && !k->status.what, #model ": %s, %s", fd_status_string(wrong),                                   \
              fd_status_string(k->status.what));                                                                       \
        free(memory);                                                                                                  \
        return k->values[0].value;                                                                                     \
    }

#endif
