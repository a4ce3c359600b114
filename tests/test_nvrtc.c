/* test_nvrtc.c - the device scopes of every header, compiled at run time by NVRTC.
   MIT licence, see LICENSE.

   No GPU is needed. Run from the top folder. */
#include <nvrtc.h>

#include "check.h"

#include <string.h>

enum { MAX_ARCHS = 64 };

static const char both_uses[] =
    "#include \"transpose.h\"\n"
    "#include \"trid.h\"\n"
    "#include \"trid/interleaved.h\"\n"
    "#include \"trid/pivoted.h\"\n"
    "extern \"C\" __global__ void solve(int n, const double *a, const double *b, const double *c, double *d)\n"
    "{\n"
    "    __shared__ double shared[TRANSPOSE_LEN_F64(5)];\n"
    "    double ra[5], rb[5], rc[5], rd[5];\n"
    "    transpose_load(5, 32, n, a, 0, ra, shared);\n"
    "    transpose_load(5, 32, n, b, 1, rb, shared);\n"
    "    transpose_load(5, 32, n, c, 0, rc, shared);\n"
    "    transpose_load(5, 32, n, d, 0, rd, shared);\n"
    "    trid_warp_hybrid(5, 32, n, ra, rb, rc, rd);\n"
    "    transpose_store(5, 32, n, rd, d, shared);\n"
    "}\n"
    "extern \"C\" __global__ void lane(int n, float *a, float *b, float *c, float *d, float *work, int *status)\n"
    "{\n"
    "    *status = trid_lane_thomas_f32(n, a, b, c, d, d, work, 1);\n"
    "}\n"
    "extern \"C\" __global__ void block(int n, const float *a, const float *b, const float *c, float *d)\n"
    "{\n"
    "    __shared__ float hybrid[TRID_BLOCK_HYBRID_LEN], lines[TRID_BLOCK_INTERLEAVED_LEN_F32(32, 8)];\n"
    "    float ra[2] = {a[0], a[1]}, rb[2] = {b[0], b[1]}, rc[2] = {c[0], c[1]}, rd[2] = {d[0], d[1]};\n"
    "    trid_block_hybrid(2, n, ra, rb, rc, rd, hybrid);\n"
    "    trid_block_interleaved(2, 32, 8, n, ra, rb, rc, rd, lines);\n"
    "    d[threadIdx.x] = rd[0] + rd[1];\n"
    "}\n"
    "extern \"C\" __global__ void refined(int n, const double *a, const double *b, const double *c, double *d)\n"
    "{\n"
    "    __shared__ double shared[TRID_BLOCK_HYBRID_REFINED_LEN];\n"
    "    double ra[2] = {a[0], a[1]}, rb[2] = {b[0], b[1]}, rc[2] = {c[0], c[1]}, rd[2] = {d[0], d[1]}, rx[2], e, s;\n"
    "    int status = trid_block_hybrid_refined(2, n, ra, rb, rc, rd, shared);\n"
    "    trid_warp_residual(2, 32, n, ra, rb, rc, rd, rx, rx, &e, &s);\n"
    "    if (!status) status = trid_warp_hybrid_refined(2, 32, n, ra, rb, rc, rd);\n"
    "    d[threadIdx.x] = status == TRID_OK ? rd[0] + trid_larger(e, s) : rx[1];\n"
    "}\n"
    "extern \"C\" __global__ void pivoted(int n, const float *a, const float *b, const float *c, float *d)\n"
    "{\n"
    "    __shared__ float shared[TRID_BLOCK_PIVOTED_LEN];\n"
    "    float ra[2] = {a[0], a[1]}, rb[2] = {b[0], b[1]}, rc[2] = {c[0], c[1]}, rd[2] = {d[0], d[1]};\n"
    "    int status = trid_block_pivoted(2, n, ra, rb, rc, rd, shared);\n"
    "    if (!status) status = trid_warp_pivoted(2, 32, n, ra, rb, rc, rd);\n"
    "    d[threadIdx.x] = status == TRID_OK ? rd[0] : rd[1];\n"
    "}\n";

/* What a user's kernel calls in bs3d.h: payoff, a patch marched through the planes, the formula, the result. */
static const char three_factors[] =
    "#include \"bs3d.h\"\n"
    "extern \"C\" __global__ void start(bs3d_problem o, float *u)\n"
    "{\n"
    "    int i = threadIdx.x, j = blockIdx.x, k = blockIdx.y;\n"
    "    u[i + bs3d_pitch_f32(o.points[0]) * (j + o.points[1] * k)] =\n"
    "        (float)bs3d_lane_payoff(o.payoff, o.flags, o.strike, i, j, k);\n"
    "}\n"
    "extern \"C\" __global__ void march(bs3d_model m, const double *u, double *v)\n"
    "{\n"
    "    bs3d_pairs_f64 pairs = bs3d_lane_pairs_f64(&m, 1);\n"
    "    bs3d_row_f64 x[4], y[2], z[3];\n"
    "    double now[8] = {0}, next[8] = {0}, out[8], patch[24];\n"
    "    for (int c = 0; c < 4; c++) x[c] = bs3d_lane_row_f64(&m, 0, 4 * (int)threadIdx.x + c);\n"
    "    for (int p = 0; p < 2; p++) y[p] = bs3d_lane_row_f64(&m, 1, 2 * (int)blockIdx.x + p);\n"
    "    for (int k = 0; k <= m.points[2]; k++) {\n"
    "        for (int d = 0; d < 3; d++) z[d] = bs3d_lane_row_f64(&m, 2, k - 1 + d);\n"
    "        for (int n = 0; n < 24; n++) patch[n] = u[24 * k + n];\n"
    "        bs3d_lane_plane_f64(BS3D_GENERAL, 4, 2, &pairs, x, y, z, patch, now, next, out);\n"
    "        for (int n = 0; n < 8; n++) v[8 * k + n] = out[n];\n"
    "    }\n"
    "    v[0] = bs3d_lane_stencil_f64(BS3D_POSITIVE, &pairs, x[0], y[0], z[0], u + 99, 1, -1, 4, -4, 16, -16);\n"
    "}\n"
    "extern \"C\" __global__ void result(bs3d_problem o, const float *u, bs3d_result *r)\n"
    "{\n"
    "    *r = bs3d_lane_greeks_f32(&o, u);\n"
    "    if (r->status) printf(\"%s\\n\", bs3d_status_string(r->status));\n"
    "}\n";

/* What a user's kernel calls in pde/fd.h: set-up by threads, rows in both precisions, the value at a point. */
static const char finite_differences[] =
    "#include \"pde/fd.h\"\n"
    "__device__ double over(const double *x, const void *strike) { return x[0] - *(const double *)strike; }\n"
    "extern \"C\" __global__ void points(fd_map map, double *x) { x[threadIdx.x] = fd_map_point(&map, threadIdx.x); }\n"
    "extern \"C\" __global__ void set_up(fd_axis axis, fd_times times, double *x, fd_step *step, int *status)\n"
    "{\n"
    "    fd_map map;\n"
    "    fd_weights at;\n"
    "    fd_scheme scheme;\n"
    "    const int face[2] = {FD_LINEAR, FD_DEGENERATE};\n"
    "    fd_cell_f32 cell[5];\n"
    "    float far_of[2];\n"
    "    status[0] = fd_axis_map(&axis, &map);\n"
    "    status[1] = fd_axis_points(&axis, x);\n"
    "    status[2] = fd_schedule(&times, 10, step, status + 7);\n"
    "    status[3] = fd_interpolate(5, x, 1.5, &at);\n"
    "    status[4] = fd_scheme_of(FD_DOUGLAS, fd_scheme_theta(FD_DOUGLAS, 3, 1), &scheme);\n"
    "    status[5] = fd_cells_f32(5, x, face, cell, far_of);\n"
    "    if (status[0]) printf(\"%s\\n\", fd_status_string(status[0]));\n"
    "    x[0] = fd_average_told(0, 1, 1, x, over, x) + fd_average(2, x, x + 2, over, x, 1e-3, 5, 0) + cell[3].h;\n"
    "}\n"
    "extern \"C\" __global__ void row(fd_cell_f32 f, fd_cell_f64 d, float *u, double *v, float *a, double *b)\n"
    "{\n"
    "    fd_row_f32 row = fd_lane_row(f, FD_FITTED, u[0], u[1]);\n"
    "    *b = fd_lane_apply(fd_lane_row(d, FD_UPWIND, v[0], v[1]), v[2], v[3], v[4]);\n"
    "    if (!fd_lane_matrix(row, u[0], u[1], a, a + 1, a + 2)) row = fd_lane_lag(row);\n"
    "    a[3] = fd_lane_mixed(f, f, u) + fd_lane_source(f, u[0], u[1], u[2]) + row.above;\n"
    "    a[4] = fd_lane_face_three(a[5], a, a + 1, u[0], u[1], u[2]);\n"
    "}\n";

/* A model of pde/adi2d.h: the preparation of its problems, in both precisions, and the march on chip. */
static const char two_factors[] =
    "#include \"examples/heston_model.h\"\n"
    "#define PREPARE(p) \\\n"
    "    extern \"C\" __global__ void prepare_##p(heston_rooms_##p::fd_p_launch launch) \\\n"
    "    { \\\n"
    "        const heston_rooms_##p::fd_p_ready ready = heston_rooms_##p::fd_p_ready_of(launch, blockIdx.x); \\\n"
    "        for (int phase = 0; phase < (int)heston_rooms_##p::heston_p_phases_##p; phase++) { \\\n"
    "            heston_rooms_##p::heston_p_prepare_##p(&launch.batch, &ready.t, phase, threadIdx.x, blockDim.x); \\\n"
    "            __syncthreads(); \\\n"
    "        } \\\n"
    "    }\n"
    "PREPARE(f32)\n"
    "PREPARE(f64)\n"
    "extern \"C\" __global__ void march(const __grid_constant__ heston_rooms_f32::fd_p_launch launch)\n"
    "{\n"
    "    extern __shared__ __align__(16) unsigned char memory[];\n"
    "    __shared__ heston_rooms_f32::adi2d_p_chip chip;\n"
    "    __shared__ int least;\n"
    "    heston_rooms_f32::adi2d_p_chip_problem<8, 0>(launch, memory, &chip, &least);\n"
    "}\n";

/* A model of pde/adi3d.h: its terms, rows and right-hand side. */
static const char three_assets[] =
    "#include \"pde/adi3d.h\"\n"
    "typedef struct { double volatility, rate; } asset_parameters;\n"
    "FD_NO_NUMBERS(asset, x)\n"
    "FD_NO_NUMBERS(asset, y)\n"
    "FD_NO_NUMBERS(asset, z)\n"
    "FD_NUMBERS(asset, t, rate, volatility)\n"
    "FD_HD void asset_of_t(const asset_parameters *p, double at, asset_t_f64 *t)\n"
    "{ (void)at, t->rate = p->rate, t->volatility = p->volatility; }\n"
    "FD_TERMS(3, asset, terms->drift[0] = t->rate * x->at; terms->diffusion[1] = t->volatility * y->at;\n"
    "         terms->mixed[2] = z->at;)\n"
    "enum { asset_fitting = FD_CENTRAL };\n"
    "FD_HD double asset_payoff(const asset_parameters *p, const double *at) { (void)p; return at[0]; }\n"
    "#define FD_MODEL_MIXED 4\n"
    "#define FD_MODEL asset\n"
    "#include \"pde/adi3d.h\"\n"
    "extern \"C\" __global__ void terms(const float *x, const float *t, float *to)\n"
    "{\n"
    "    asset_p_point_numbers_f32 own[3];\n"
    "    for (int d = 0; d < 3; d++) own[d].number[0] = x[d];\n"
    "    const fd_terms_f32 terms = asset_p_terms_f32(0, own, t);\n"
    "    const fd_cell_f32 cell[3] = {{1, 1, 1, 0.5f}, {1, 1, 1, 0.5f}, {1, 1, 1, 0.5f}};\n"
    "    to[threadIdx.x] = asset_rooms_f32::fd_p_apply(cell, &terms, 1, 1, x);\n"
    "}\n";

/* Returns a file of the kit as text, which the caller frees, or null. */
static char *text_of(const char *file)
{
    FILE *from = fopen(file, "rb");
    char *text = NULL;
    if (!from) return NULL;
    if (!fseek(from, 0, SEEK_END)) {
        const long size = ftell(from);
        rewind(from);
        text = size > 0 ? (char *)calloc((size_t)size + 1, 1) : NULL;
        if (text && fread(text, 1, (size_t)size, from) != (size_t)size) free(text), text = NULL;
    }
    fclose(from);
    return text;
}

/* A header that is passed to NVRTC, and the name by which an #include asks for it. */
typedef struct {
    const char *name, *file;
} given_header;

enum { MAX_GIVEN = 8 };

/* Compiles for an architecture, with `count` headers that are passed or, if count is 0, headers that a path finds.
   Returns 1 if there was neither an error nor a warning. Leaves the PTX in *ptx, which the caller frees. */
static int compile(const char *name, const char *source, int arch, const char *define, int count,
                   const given_header *given, char **ptx)
{
    char architecture[64], *texts[MAX_GIVEN] = {NULL};
    const char *options[4] = {architecture, "--std=c++17"};
    const char *names[MAX_GIVEN] = {NULL};
    nvrtcProgram program;
    size_t size = 0;
    int ok = 1, chosen = 2;

    if (count == 0) options[chosen++] = "-I.";
    if (define) options[chosen++] = define;
    snprintf(architecture, sizeof architecture, "--gpu-architecture=compute_%d", arch);
    *ptx = NULL;
    for (int k = 0; k < count; k++) {
        names[k] = given[k].name, texts[k] = text_of(given[k].file);
        ok &= texts[k] != NULL;
    }
    ok = ok && nvrtcCreateProgram(&program, source, name, count, (const char *const *)texts, names) == NVRTC_SUCCESS;
    for (int k = 0; k < count; k++) free(texts[k]);
    if (!ok) return 0;
    ok = nvrtcCompileProgram(program, chosen, options) == NVRTC_SUCCESS;
    if (nvrtcGetProgramLogSize(program, &size) == NVRTC_SUCCESS && size > 1) {
        char *log = (char *)malloc(size);
        if (log && nvrtcGetProgramLog(program, log) == NVRTC_SUCCESS && strspn(log, " \n") < strlen(log)) {
            printf("%s for compute_%d:\n%s\n", name, arch, log);
            ok = 0;
        }
        free(log);
    }
    if (ok && nvrtcGetPTXSize(program, &size) == NVRTC_SUCCESS) {
        *ptx = (char *)malloc(size);
        if (*ptx) ok = nvrtcGetPTX(program, *ptx) == NVRTC_SUCCESS;
    }
    nvrtcDestroyProgram(&program);
    return ok;
}

static void check_source(const char *name, const char *source, int arch, const char *define, const char *in_ptx)
{
    char *ptx;
    int ok = compile(name, source, arch, define, 0, NULL, &ptx);
    CHECK(ok, "%s does not compile for compute_%d", name, arch);
    CHECK(ok && ptx && strstr(ptx, in_ptx), "%s for compute_%d: no %s in the PTX", name, arch, in_ptx);
    free(ptx);
}

/* Checks rooms without a path: passes each file under every name by which others include it. */
static void check_given(int arch)
{
    static const given_header given[] = {{"trid/pivoted.h", "trid/pivoted.h"},
                                         {"pivoted.h", "trid/pivoted.h"},
                                         {"twice.h", "trid/twice.h"},
                                         {"../trid.h", "trid.h"},
                                         {"trid.h", "trid.h"}};
    char *ptx;
    const int ok = compile("given headers",
                           "#include \"trid/pivoted.h\"\n"
                           "extern \"C\" __global__ void pivoted(float *a, float *b, float *c, float *d)\n"
                           "{ trid_warp_pivoted(1, 32, 32, a, b, c, d); }\n",
                           arch, NULL, (int)(sizeof given / sizeof *given), given, &ptx);
    CHECK(ok && ptx && strstr(ptx, "pivoted"), "headers that are given by name, for compute_%d", arch);
    free(ptx);
}

int main(void)
{
    int count = 0, archs[MAX_ARCHS];
    if (nvrtcGetNumSupportedArchs(&count) != NVRTC_SUCCESS || count > MAX_ARCHS ||
        nvrtcGetSupportedArchs(archs) != NVRTC_SUCCESS) {
        CHECK(0, "NVRTC does not list its architectures");
        return check_report();
    }
    char *ptx;
    printf("The next error is planted:\n");
    CHECK(!compile("planted", "#include \"trid.h\"\n__global__ void f(float *x) { *x = trid_rcp_f32(y); }\n",
                   archs[count - 1], NULL, 0, NULL, &ptx),
          "an undeclared name passes");
    free(ptx);
    check_given(archs[count - 1]);
    for (int i = 0; i < count; i++) {
        if (archs[i] < 75 || (check_short() && archs[i] != 75 && i < count - 1)) continue;
        check_source("trid.h alone", "#include \"trid.h\"\n__global__ void f(float *x) { *x = trid_rcp_f32(*x); }\n",
                     archs[i], NULL, "rcp.approx.ftz.f32");
        check_source("trid.h, IEEE division",
                     "#include \"trid.h\"\n__global__ void f(float *x) { *x = trid_rcp_f32(*x); }\n", archs[i],
                     "-DTRID_EXACT_RCP", "rcp.rn.f32");
        check_source("transpose.h alone",
                     "#include \"transpose.h\"\n"
                     "extern \"C\" __global__ void f(const float *x, float *y)\n"
                     "{ float u[4]; transpose_load_vec(4, 32, 128, x, 0, u, 1);\n"
                     "  transpose_store_shfl(4, 32, 128, u, y); }\n",
                     archs[i], NULL, "shfl.sync");
        check_source("trid/batch.h, where systems lie",
                     "#include \"trid/batch.h\"\n"
                     "extern \"C\" __global__ void f(trid_lines l, float *x) { x[l.step * threadIdx.x] = 1; }\n",
                     archs[i], NULL, "st.global");
        check_source("both headers", both_uses, archs[i], NULL, "solve");
        check_source("bs3d.h, lanes", three_factors, archs[i], NULL, "march");
        check_source("pde/fd.h in kernels", finite_differences, archs[i], NULL, "set_up");
        check_source("pde/adi3d.h, a model", three_assets, archs[i], NULL, "terms");
        if (!check_short() || i == count - 1)
            check_source("pde/adi2d.h, a model", two_factors, archs[i], NULL, "march");
    }
    if (check_short()) check_skip(1, "architectures between the oldest and the newest: SHORT_TESTS is set");
    return check_report();
}
