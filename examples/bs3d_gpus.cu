/* bs3d_gpus.cu - an option on three assets, by explicit and ADI marches on a grid cut into slabs, one per GPU.
   MIT licence, see LICENSE.

       bs3d_gpus [SLABS [POINTS]]     by default one slab a GPU, and 256 points on each axis

       nvcc -O3 -arch=native -std=c++17 -I. examples/bs3d_gpus.cu                                      copies
       nvcc -O3 -arch=native -std=c++17 -I. -DBS3D_GPUS_NCCL examples/bs3d_gpus.cu -lnccl              NCCL
       nvcc -ccbin mpicxx ... -DBS3D_GPUS_MPI [-DBS3D_GPUS_NCCL] examples/bs3d_gpus.cu [-lnccl]        MPI

   With MPI each GPU has its own process. A march over several GPUs calls plan, bytes and open, then step for each time
   step, then result. The program supplies the functions that move messages between the GPUs, by any library.
   bs3d_exchange.h has these functions for the three ways above. */
#include "bs3d.h"
#include "cuda_check.h"

#include "bs3d_exchange.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* On an error, ends the program and MPI's other processes, which might wait for this one. */
static void done(int status)
{
    if (!status) return;
    fprintf(stderr, "bs3d_gpus: %s\n", exchange_string(status));
#ifdef BS3D_GPUS_MPI
    MPI_Abort(MPI_COMM_WORLD, 1);
#endif
    exit(1);
}

/* Prices on all GPUs. Each process runs this function for its ranks. */
static double price_on_slabs(const bs3d_ranks *ranks, const bs3d_problem *option, int implicit)
{
    static bs3d_slab_march_f64 slabs[MOST_RANKS];
    void *work[MOST_RANKS];
    bs3d_ranks_options options = {}; /* zeros: overlap as much as possible */
    bs3d_ranks_march_f64 march;
    bs3d_result result;
    options.implicit = implicit;

    /* Cuts the grid, then allocates each GPU's memory. */
    done(bs3d_ranks_plan_f64(ranks, option, &options, slabs, &march));
    for (int i = 0; i < ranks->count; i++) {
        check(cudaSetDevice(ranks->local[i].device));
        check(cudaMalloc(&work[i], bs3d_ranks_bytes_f64(&march, i)));
    }

    /* Each call enqueues a step, with its messages, on all GPUs of this process, and the host goes on. A program might
       print its progress here, or look for errors of NCCL (bench/bs3d_gpus.cu does both). */
    done(bs3d_ranks_open_f64(&march, work));
    while (march.step < option->steps) done(bs3d_ranks_step_f64(&march));

    /* This waits for the GPUs; all processes get the result. */
    done(bs3d_ranks_result_f64(&march, &result));
    for (int i = 0; i < ranks->count; i++) {
        check(cudaSetDevice(ranks->local[i].device));
        check(cudaFree(work[i]));
    }
    return result.price;
}

/* Prices on one GPU, by bs3d.h's own launches, which march the whole grid. */
static double price_on_one(const bs3d_problem *option, int implicit)
{
    bs3d_result result;
    void *work;
    check(cudaMalloc(&work, bs3d_work_bytes_f64(option)));
    done(implicit ? bs3d_implicit2_f64(option, work, &result, 0) : bs3d_explicit4_f64(option, work, &result, 0));
    check(cudaStreamSynchronize(0));
    done(result.status);
    check(cudaFree(work));
    return result.price;
}

/* The spacing limits the length of an explicit step, but not that of an ADI step. On 256 points 6.4 / points^2 is a
   little less than the explicit step of bs3d_timing.cu. */
static bs3d_problem option_of(int points, int implicit)
{
    const double step = implicit ? 0.0005 : 6.4 / ((double)points * points);
    const int steps = 64;
    const bs3d_problem option = {{100, 100, 100}, /* spots */
                                 {200, 200, 200}, /* tops of the grid */
                                 {0.2, 0.2, 0.2}, /* volatilities */
                                 {0, 0, 0},       /* dividend yields */
                                 {0.5, 0.5, 0.5}, /* correlations */
                                 100,             /* strike */
                                 0.05,            /* rate */
                                 step * steps,    /* maturity */
                                 {points, points, points},
                                 steps,
                                 BS3D_GEOMETRIC,
                                 BS3D_CALL};
    return option;
}

int main(int argc, char **argv)
{
#ifdef BS3D_GPUS_MPI
    MPI_Init(&argc, &argv);
#endif
    static Exchange exchange;
    int devices, wrong = 0, number;
    check(cudaGetDeviceCount(&devices));
    int slabs = argc > 1 ? atoi(argv[1]) : devices, points = argc > 2 ? atoi(argv[2]) : 256;
#ifdef SIMT_EMULATOR
    if (argc < 2) slabs = 2, points = 24, puts("under the emulator, which is slow: 2 slabs, 24 points an axis");
#endif
    exchange_processes(&number); /* with several processes, each has one slab */
    done(exchange_open(&exchange, slabs, devices, exchange_best(slabs, devices)));
    for (int implicit = 0; implicit < 2; implicit++) {
        const bs3d_problem option = option_of(points, implicit);
        const double price = price_on_slabs(&exchange.ranks, &option, implicit);
        const double alone = price_on_one(&option, implicit);
        if (number == 0)
            printf("%-8s on %d slabs: %.12f, on one GPU %.12f\n", implicit ? "ADI" : "explicit", exchange.ranks.ranks,
                   price, alone);
        if (!(fabs(price - alone) <= 1e-12 * option.strike)) wrong = 1;
    }
    done(exchange_close(&exchange));
#ifdef BS3D_GPUS_MPI
    MPI_Finalize();
#endif
    return wrong;
}
