/* faults.h - a fault is recorded, printed, and abandons its launch. */
#ifndef SIMT_FAULTS_H
#define SIMT_FAULTS_H

#include "coroutines.h"

/* Records and prints "WHAT, block (..) thread (..)", and abandons the launch. Does not return if a thread calls it. */
SIMT_PRINTF(2, 3) SIMT_OWN void simt_fault(int thread, const char *format, ...)
{
    char what[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);

    uint3 index = simt.threads[thread].index;
    snprintf(simt.fault_text, sizeof simt.fault_text, "%s, block (%u,%u,%u) thread (%u,%u,%u)", what, blockIdx.x,
             blockIdx.y, blockIdx.z, index.x, index.y, index.z);
    fprintf(stderr, "simt: %s\n", simt.fault_text);
    simt.abandoned = true;
    simt.last_error = cudaErrorLaunchFailure;
    simt.fault_count++;
    simt.faults_untaken++;
    if (simt.current >= 0)
        simt_suspend();
}

SIMT_OWN long simt_faults(void) { return simt.fault_count; }
SIMT_OWN const char *simt_fault_text(void) { return simt.fault_text; }

SIMT_OWN const char *simt_take_fault(void)
{
    const char *text = simt.faults_untaken ? simt.fault_text : nullptr;
    simt.faults_untaken = 0;
    return text;
}

SIMT_OWN void simt_at_exit(void)
{
    if (simt.faults_untaken == 0)
        return;
    fprintf(stderr, "simt: exit status %d, because of a fault that nobody took\n", (int)SIMT_EXIT_STATUS);
    fflush(nullptr);
    _exit(SIMT_EXIT_STATUS);
}

#endif
