/* rooms.h - includes the rooms of fd1d.h, adi2d.h and adi3d.h, once for each model and precision; each room builds on
   those before it. In C++ they are in a namespace, MODEL_rooms_f32 or MODEL_rooms_f64. Names that C also reads, or that
   a user calls, contain the model's name as well: macros in the room turn a name such as fd_host into MODEL_host_f32
   or MODEL_host_f64 (FD_OF). MIT licence, see LICENSE. */

#ifdef __cplusplus
namespace FD_OF(rooms)
{
#endif

#include "terms.h"   /* the model, as the solvers call it */
#if FD_FACTORS > 1
#include "step.h" /* a step's numbers; F, the PDE's operator, at a point. To add a kind of term: fd_p_own, fd_p_mix */
#endif
#include "prepare.h" /* tables of axes and steps, final values, checks; for two factors also adi2d/step.h */
#include "results.h" /* values at spots, NaN where there is no result */
#include "rows.h"    /* matrix rows, terms of faces, events between steps */

#if FD_FACTORS == 1
#include "../fd1d/step.h" /* the numbers of rows, time steps and faces; runs of equal steps */
#if TB_HOST_SCOPE
#include "../fd1d/host.h" /* the host */
#endif
#elif TB_HOST_SCOPE
#include "host_right.h" /* the data of a worker on the host; right-hand sides */
#include "host_lines.h" /* solves along lines and a time step on the host */
#if FD_FACTORS == 2
#include "../adi2d/product.h" /* steps that are products of factors, on the host */
#endif
#include "host.h" /* marches on the host */
#endif
#if TB_HOST_SCOPE
#include "suggest.h" /* the points and steps for a tolerance */
#endif

#if FD_FACTORS == 1 && TB_LAUNCHES
#include "../fd1d/device.h" /* the device: the march in registers, its kernels, shapes and launches */
#endif

#if FD_FACTORS > 1 && TB_DEVICE_SCOPES
#include "grid.h" /* F, right-hand sides and boundary rows at the points of a grid, in device memory or on chip */
#endif
#if FD_FACTORS == 3 && TB_LAUNCHES
#include "../adi3d/device.h"        /* the data of kernels, the factors of independent axes */
#include "../adi3d/device_planes.h" /* solves along z within the sweeps */
#include "../adi3d/device_x.h"      /* right-hand sides and lines along x: kernels and launches */
#include "../adi3d/device_yz.h"     /* lines along y and z: kernel, launches. To add a shape: adi3d_p_device_yz */
#include "../adi3d/device_march.h"  /* preparation and marches in device memory */
#endif

#if FD_FACTORS > 1 && TB_DEVICE_SCOPES
#include "ready.h" /* prepares problems in device memory; the data of a block whose problem is on chip */
#if FD_FACTORS == 2 && TB_LAUNCHES
#include "../adi2d/rungs.h" /* the naive and the coalesced version */
#endif
#include "chip_march.h" /* the march on chip, from step to step, and the work after each step */
#if FD_FACTORS == 2
#include "../adi2d/chip.h"     /* the layout of a grid on chip, access to it */
#include "../adi2d/stages.h"   /* the stages of a scheme on chip */
#include "../adi2d/products.h" /* steps that are products of factors, on chip */
#include "../adi2d/onchip.h"   /* a step on chip, its kernel, shapes and launch */
#elif TB_LAUNCHES
#include "../adi3d/onchip_stage.h" /* a stage on chip: right-hand sides and lines */
#include "../adi3d/onchip.h"       /* the kernel on chip, its shapes and launch */
#endif
#endif
#if FD_FACTORS == 3 && TB_HOST_SCOPE
#include "../adi3d/solve.h" /* the GPU or the host */
#endif

#ifdef __cplusplus
}
using namespace FD_OF(rooms);
#endif
