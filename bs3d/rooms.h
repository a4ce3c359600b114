/* rooms.h - the rooms of bs3d.h over tb_real, read once for each precision. MIT licence, see LICENSE. */

#ifndef TB_BODY

/* Names that get the precision's suffix in both languages: types, public functions whose arguments would not tell C++
   which precision is meant, and some private functions. */
#define bs3d_row TB_OF(bs3d_row)
#define bs3d_pairs TB_OF(bs3d_pairs)
#define bs3d_lane_row TB_OF(bs3d_lane_row)
#define bs3d_lane_pairs TB_OF(bs3d_lane_pairs)
#define bs3d_pitch TB_OF(bs3d_pitch)
#define bs3d_host_bytes TB_OF(bs3d_host_bytes)
#define bs3d_host_explicit TB_OF(bs3d_host_explicit)
#define bs3d_host_implicit TB_OF(bs3d_host_implicit)
#define bs3d_work_bytes TB_OF(bs3d_work_bytes)
#define bs3d_explicit1 TB_OF(bs3d_explicit1)
#define bs3d_explicit2 TB_OF(bs3d_explicit2)
#define bs3d_explicit3 TB_OF(bs3d_explicit3)
#define bs3d_explicit4 TB_OF(bs3d_explicit4)
#define bs3d_implicit1 TB_OF(bs3d_implicit1)
#define bs3d_implicit2 TB_OF(bs3d_implicit2)
#define bs3d_implicit3 TB_OF(bs3d_implicit3)
#define bs3d_slab_march TB_OF(bs3d_slab_march)
#define bs3d_slab_partitions TB_OF(bs3d_slab_partitions)
#define bs3d_slab_bytes TB_OF(bs3d_slab_bytes)
#define bs3d_ranks_march TB_OF(bs3d_ranks_march)
#define bs3d_p_cell TB_OF(bs3d_p_cell)
#define bs3d_p_exercised TB_OF(bs3d_p_exercised)
#define bs3d_p_cells TB_OF(bs3d_p_cells)
#define bs3d_p_host_payoff TB_OF(bs3d_p_host_payoff)
#define bs3d_p_host_apply TB_OF(bs3d_p_host_apply)
#define bs3d_p_host_lines TB_OF(bs3d_p_host_lines)
#define bs3d_p_host_factor TB_OF(bs3d_p_host_factor)
#define bs3d_p_host_steps TB_OF(bs3d_p_host_steps)
#define bs3d_p_host_march TB_OF(bs3d_p_host_march)
#define bs3d_p_slab_doubles TB_OF(bs3d_p_slab_doubles)

/* Public names that are overloaded in C++, with aliases for their suffixed forms. */
#ifndef __cplusplus
#define bs3d_lane_stencil TB_OF(bs3d_lane_stencil)
#define bs3d_lane_plane TB_OF(bs3d_lane_plane)
#define bs3d_lane_greeks TB_OF(bs3d_lane_greeks)
#else
#define bs3d_lane_stencil_f32 tb_f32::bs3d_lane_stencil
#define bs3d_lane_stencil_f64 tb_f64::bs3d_lane_stencil
#define bs3d_lane_plane_f32 tb_f32::bs3d_lane_plane
#define bs3d_lane_plane_f64 tb_f64::bs3d_lane_plane
#define bs3d_lane_greeks_f32 tb_f32::bs3d_lane_greeks
#define bs3d_lane_greeks_f64 tb_f64::bs3d_lane_greeks
#define bs3d_slab_open_f32 tb_f32::bs3d_slab_open
#define bs3d_slab_open_f64 tb_f64::bs3d_slab_open
#define bs3d_slab_explicit_f32 tb_f32::bs3d_slab_explicit
#define bs3d_slab_explicit_f64 tb_f64::bs3d_slab_explicit
#define bs3d_slab_up_f32 tb_f32::bs3d_slab_up
#define bs3d_slab_up_f64 tb_f64::bs3d_slab_up
#define bs3d_slab_down_f32 tb_f32::bs3d_slab_down
#define bs3d_slab_down_f64 tb_f64::bs3d_slab_down
#define bs3d_slab_exercise_f32 tb_f32::bs3d_slab_exercise
#define bs3d_slab_exercise_f64 tb_f64::bs3d_slab_exercise
#define bs3d_slab_values_f32 tb_f32::bs3d_slab_values
#define bs3d_slab_values_f64 tb_f64::bs3d_slab_values
#define bs3d_slab_messages_f32 tb_f32::bs3d_slab_messages
#define bs3d_slab_messages_f64 tb_f64::bs3d_slab_messages
#define bs3d_ranks_plan_f32 tb_f32::bs3d_ranks_plan
#define bs3d_ranks_plan_f64 tb_f64::bs3d_ranks_plan
#define bs3d_ranks_bytes_f32 tb_f32::bs3d_ranks_bytes
#define bs3d_ranks_bytes_f64 tb_f64::bs3d_ranks_bytes
#define bs3d_ranks_open_f32 tb_f32::bs3d_ranks_open
#define bs3d_ranks_open_f64 tb_f64::bs3d_ranks_open
#define bs3d_ranks_step_f32 tb_f32::bs3d_ranks_step
#define bs3d_ranks_step_f64 tb_f64::bs3d_ranks_step
#define bs3d_ranks_send_f32 tb_f32::bs3d_ranks_send
#define bs3d_ranks_send_f64 tb_f64::bs3d_ranks_send
#define bs3d_ranks_arrive_f32 tb_f32::bs3d_ranks_arrive
#define bs3d_ranks_arrive_f64 tb_f64::bs3d_ranks_arrive
#define bs3d_ranks_result_f32 tb_f32::bs3d_ranks_result
#define bs3d_ranks_result_f64 tb_f64::bs3d_ranks_result
#endif

#define TB_BODY "../bs3d/rooms.h"
#include "../trid/twice.h"

#else /* TB_BODY */

#include "lane.h"
#if TB_HOST_SCOPE
#include "host.h"
#endif
#ifndef BS3D_NO_LAUNCHES
#include "march.h"
#include "planes.h"
#include "explicit.h"
#include "matrix.h"
#include "implicit1.h"
#include "implicit2.h"
#include "one_sweep.h"
#include "implicit3.h"
#include "slabs.h"
#include "ranks.h"
#endif

#endif /* TB_BODY */
