/* diagrams.cc - the diagrams of the documents, drawn from what the headers' own functions return.
   MIT licence, see LICENSE.

   bench/pictures.sh compiles and runs this program under the emulator, so it needs no GPU. The program prints one line
   for each thing to draw, with tabs between fields: box, text, rule and so on. plot.awk draws them, and defines colors
   and fonts. Where a picture claims something, the program asks the code, or tries it; if the claim is wrong, nothing
   is drawn. */
#include "../bs1d.h"

#include <algorithm>
#include <string>
#include <vector>

/* Launches of bs3d.h are recorded, not made. */
struct launch {
    const void *kernel;
    dim3 grid, block;
};
static std::vector<launch> noted;
template <class... P, class... A>
static cudaError_t note(int, int, void (*kernel)(P...), dim3 grid, dim3 block, size_t, cudaStream_t, const A &...)
{
    noted.push_back({(const void *)kernel, grid, block});
    return cudaSuccess;
}
#define trid_launch_with note
#include "../bs3d.h"
#undef trid_launch_with

static void claim(bool so, const char *what)
{
    if (!so) fprintf(stderr, "diagrams: the code no longer does so: %s\n", what), exit(1);
}

/* ---- what can be drawn ------------------------------------------------------------------------------------------- */

static std::string number(int i)
{
    return std::to_string(i);
}
static void begin(int width, int height, const char *label, const char *title)
{
    printf("begin\t%d\t%d\t%s\t%s\n", width, height, label, title);
}
static void box(double x, double y, double width, double height, const std::string &style)
{
    printf("box\t%g\t%g\t%g\t%g\t%s\n", x, y, width, height, style.c_str());
}
static void text(double x, double y, const char *style, const std::string &what)
{
    printf("text\t%g\t%g\t%s\t%s\n", x, y, style, what.c_str());
}
static void rule(double x, double y, double to_x, double to_y, const char *style)
{
    printf("rule\t%g\t%g\t%g\t%g\t%s\n", x, y, to_x, to_y, style);
}
static void arrow(double x, double y, double to_x, double to_y)
{
    rule(x, y, to_x, to_y, "arrow");
}
static void dot(double x, double y, double radius, const char *style)
{
    printf("dot\t%g\t%g\t%g\t%s\n", x, y, radius, style);
}
/* A box with words in it. */
static void cell(double x, double y, double width, double height, const std::string &style, const std::string &what)
{
    box(x, y, width, height, style);
    if (!what.empty()) text(x + width / 2, y + height / 2 + 4, "cell", what);
}
static std::string color(int i)
{
    return "tint t" + number(i % 8 + 1);
}

/* ---- rows in lanes ----------------------------------------------------------------------------------------------- */

enum { LANES_K = 4, LANES_W = 8 };

__global__ void load_rows(int n, const float *rows, float *held)
{
    __shared__ float shared[TRANSPOSE_LEN_F32(LANES_K)];
    float u[LANES_K];
    transpose_load(LANES_K, LANES_W, threadIdx.x < LANES_W ? n : 0, rows, -1, u, shared);
    for (int j = 0; j < LANES_K; j++) held[LANES_K * threadIdx.x + j] = u[j];
}

static void lanes()
{
    const int K = LANES_K, W = LANES_W, n = K * W - 2;
    const double left = 46, size = 24, wide = K * size;
    float *device, row[LANES_K * LANES_W], held[32 * LANES_K];
    for (int i = 0; i < n; i++) row[i] = (float)i;
    cudaMalloc((void **)&device, sizeof row + sizeof held);
    cudaMemcpy(device, row, sizeof row, cudaMemcpyHostToDevice);
    SIMT_LAUNCH(load_rows, 1, 32, 0, 0)(n, device, device + K * W);
    cudaMemcpy(held, device + K * W, sizeof held, cudaMemcpyDeviceToHost);
    cudaFree(device);
    int lane_of[LANES_K * LANES_W] = {0};
    for (int l = 0; l < W; l++)
        for (int j = 0; j < K; j++)
            if (held[K * l + j] >= 0) lane_of[(int)held[K * l + j]] = l;

    begin(860, 408, "A system's rows in memory, the same rows in the registers of eight lanes, and the reduced system",
          "Rows in lanes: a system of 30 rows, 4 in each of 8 lanes");
    text(left, 52, "small",
         "In memory, row after row. a, b, c and d are such arrays. transpose_load reads them: neighbouring lanes read "
         "neighbouring elements.");
    for (int i = 0; i < n; i++) cell(left + size * i, 62, size - 2, size - 2, color(lane_of[i]), number(i));
    for (int l = 0; l < W; l++) arrow(left + wide * (l + 0.5) - 1, 90, left + wide * (l + 0.5) - 1, 106);
    text(left, 126, "small",
         "In registers, lane l holds rows 4l .. 4l+3. Shorter systems are padded with identity rows (x = 0).");
    for (int l = 0; l < W; l++) {
        for (int j = 0; j < K; j++) {
            int which = (int)held[K * l + j];
            cell(left + wide * l + 6, 136 + size * j, wide - 14, size - 2, which < 0 ? "empty" : color(l),
                 which < 0 ? "identity" : "row " + number(which));
        }
        text(left + wide * (l + 0.5) - 1, 248, "tick", "lane " + number(l));
        arrow(left + wide * (l + 0.5) - 1, 256, left + wide * (l + 0.5) - 1, 272);
    }
    text(left, 292, "small",
         "trid_lane_reduce and trid_lane_link leave one row a lane, in its own last unknown and those of its two "
         "neighbours.");
    for (int l = 0; l < W; l++) {
        if (l > 0) rule(left + wide * l - 8, 313, left + wide * l + 6, 313, "edge");
        cell(left + wide * l + 6, 302, wide - 14, size - 2, color(l), "x[" + number(K * l + K - 1) + "]");
    }
    text(left, 352, "small",
         "These 8 rows are again a tridiagonal system. trid_warp_pcr solves it by log2 8 = 3 steps of parallel cyclic "
         "reduction.");
    text(left, 370, "small",
         "trid_lane_expand computes the other unknowns of each lane from its own last unknown and that of the lane "
         "above.");
    text(left, 388, "small",
         "trid_warp_hybrid(4, 8, n, a, b, c, d) does all of this. A warp of 32 lanes solves four such systems, or one "
         "with all lanes.");
}

/* ---- elimination from both ends ---------------------------------------------------------------------------------- */

static void matrix(double left, double top, int K, const bool *filled, const char *title)
{
    const double size = 19;
    text(left + size * (K + 2) / 2, top - 26, "tick", title);
    for (int column = 0; column < K + 2; column++)
        text(left + size * (column + 0.5) - 1, top - 6, "tick",
             column == 0       ? "l"
             : column == K + 1 ? "y"
                               : number(column - 1));
    for (int j = 0; j < K; j++)
        for (int column = 0; column < K + 2; column++) {
            const char *style = column == 0 || column == K + 1 ? "tint t2" : column == K ? "tint t3" : "tint t1";
            box(left + size * column, top + size * j, size - 2, size - 2,
                filled[j * (K + 2) + column] ? style : "hole");
        }
}

static void elimination()
{
    enum { K = 8 };
    bool before[K * (K + 2)] = {false}, after[K * (K + 2)] = {false};
    double a[K], b[K], c[K], d[K];
    for (int j = 0; j < K; j++) {
        a[j] = c[j] = -1, b[j] = 4, d[j] = 1;
        before[j * (K + 2) + j] = before[j * (K + 2) + j + 1] = before[j * (K + 2) + j + 2] = true;
    }
    claim(trid_lane_reduce_f64(K, a, b, c, d) == 0, "a partition is reduced");
    for (int j = 0; j < K; j++) {
        after[j * (K + 2) + j + 1] = true;
        if (a[j] != 0) after[j * (K + 2)] = true;
        if (c[j] != 0) after[j * (K + 2) + (j < K - 1 ? K : K + 1)] = true;
    }

    begin(860, 308,
          "The pattern of a partition's matrix before and after, and the order in which its rows are eliminated",
          "Elimination from both ends: the 8 rows of a lane (trid_lane_reduce)");
    text(
        16, 42, "small",
        "l is the last unknown of the lane above, y the first of the lane below. Afterwards every row couples to l and "
        "x[7] only, row 7 also to y.");
    matrix(46, 100, K, before, "before: columns l, x[0] .. x[7], y");
    arrow(244, 178, 266, 178);
    matrix(276, 100, K, after, "after");
    for (int j = 0; j < K; j++) text(40, 100 + 19 * j + 13, "level", number(j));

    /* A visit waits for the previous visit to its own row and for the latest visit to each row that it subtracts. */
    const double left = 540, step = 34, top = 110, down = 19;
    int depth[K] = {0}, deepest = 0;
    for (int j = 0; j < K; j++) text(left - 16, top + down * j + 4, "level", "row " + number(j));
    for (int pass = 0; pass < 2; pass++) { /* lines first, then dots on top */
        std::fill(depth, depth + K, 0);
        for (int i = 0; i < trid_p_visits(K); i++) {
            trid_p_visit v = trid_p_visit_of(K, i);
            int mine = depth[v.row];
            if (v.down) mine = std::max(mine, depth[v.row - 1]);
            if (v.up) mine = std::max(mine, depth[v.row + 1]);
            double x = left + step * mine, y = top + down * v.row;
            if (!pass && v.down) rule(left + step * (depth[v.row - 1] - 1), y - down, x, y, "edge");
            if (!pass && v.up) rule(left + step * (depth[v.row + 1] - 1), y + down, x, y, "edge");
            if (pass) dot(x, y, 5, v.scale ? "d1" : "d2");
            depth[v.row] = mine + 1;
            deepest = std::max(deepest, mine + 1);
        }
    }
    claim(deepest < trid_p_visits(K), "two ends at a time take fewer dependent steps than visits");
    text(left + step * (deepest - 1) / 2, 74, "tick",
         "order of elimination: " + number(deepest) + " dependent steps, not " + number(trid_p_visits(K)));
    arrow(left - 6, 268, left + step * (deepest - 1) + 6, 268);
    text(left + step * (deepest - 1) / 2, 286, "tick", "time");
    dot(46, 276, 5, "d1");
    text(56, 280, "small", "first visit: loses one neighbour (the middle row both) and is divided by its pivot");
    dot(46, 292, 5, "d2");
    text(56, 296, "small", "second visit, on the way back: loses the other neighbour");
}

/* ---- parallel cyclic reduction ----------------------------------------------------------------------------------- */

/* Computes how much of row `unit`'s right-hand side is in each row of a warp after the steps with strides below
   count. */
__global__ void reach_of(int count, int unit, float *part)
{
    int lane = (int)threadIdx.x;
    float a = lane > 0 ? -0.3f : 0, c = lane < 31 ? -0.3f : 0, d = lane == unit ? 1.0f : 0.0f;
    trid_warp_pcr(32, count, a, c, &d);
    part[lane] = d;
}

static void pcr()
{
    enum { W = 16, STEPS = 4, WATCHED = 5 };
    const double left = 250, step = 37, top = 108, down = 62;
    int stride[STEPS + 1] = {0}, reached = 0;
    float *device, part[32];
    cudaMalloc((void **)&device, sizeof part);
    for (int p = 1; p <= STEPS; p++) {
        int far = 0;
        SIMT_LAUNCH(reach_of, 1, 32, 0, 0)(1 << p, W, device);
        cudaMemcpy(part, device, sizeof part, cudaMemcpyDeviceToHost);
        for (int lane = 0; lane < 32; lane++)
            if (part[lane] != 0) far = std::max(far, abs(lane - W));
        stride[p] = far - reached;
        reached = far;
    }
    cudaFree(device);
    claim(reached == W - 1, "log2 W steps join all rows");

    begin(860, 424, "Sixteen lanes with one row each, and the rows that each step combines",
          "Parallel cyclic reduction: 16 rows in 16 lanes (trid_warp_pcr1)");
    text(16, 42, "small",
         "In the step with stride s every row eliminates the rows s above and s below it. It then couples to rows 2s "
         "away.");
    text(16, 57, "small",
         "All lanes do so at the same time, by shuffles. Orange: the rows from which lane " + number(WATCHED) +
             " computes its unknown.");
    for (int drawn = 0; drawn < 2; drawn++) /* the orange ones last */
        for (int p = 1; p <= STEPS; p++)
            for (int lane = 0; lane < W; lane++) {
                int wanted = p == STEPS ? lane == WATCHED : (lane - WATCHED) % stride[p + 1] == 0;
                for (int from = lane - stride[p]; from <= lane + stride[p] && wanted == drawn; from += stride[p])
                    if (from >= 0 && from < W)
                        rule(left + step * from, top + down * (p - 1), left + step * lane, top + down * p,
                             wanted ? "chosen" : "faint");
            }
    for (int p = 0; p <= STEPS; p++) {
        for (int lane = 0; lane < W; lane++) {
            bool wanted = p == STEPS ? lane == WATCHED : (lane - WATCHED) % stride[p + 1] == 0;
            dot(left + step * lane, top + down * p, 5, wanted ? "d2" : "d4");
            if (p == 0) text(left + step * lane, top - 12, "tick", number(lane));
        }
        text(left - 24, top + down * p + 4, "level",
             p == 0 ? "the rows as given, in lane" : "after the step with stride " + number(stride[p]));
    }
    text(left - 24, top + down * STEPS + 19, "level", "every row is solved");
    text(46, 398, "small",
         "A step takes more operations than the Thomas algorithm for all these rows, but there are log2 16 = 4 steps, "
         "not 2 x 16.");
    text(46, 414, "small",
         "So each lane first reduces its own rows to one, and only these rows pass through the steps.");
}

/* ---- interleaved systems ----------------------------------------------------------------------------------------- */

enum { LINES_K = 4, LINES_L = 8, LINES_S = 4 };

/* Solves systems; thread t holds rows K (t / L) .. of system t % L, and the host checks x. Finds the thread to which the
   exchange takes each reduced row. */
__global__ void solve_lines(const float *d, float *x, float *solver)
{
    enum { K = LINES_K, L = LINES_L, S = LINES_S };
    __shared__ float shared[TRID_BLOCK_INTERLEAVED_LEN_F32(L, S)];
    float a[K], b[K], c[K], mine[K];
    int system = (int)threadIdx.x % L, first = K * ((int)threadIdx.x / L);
    for (int j = 0; j < K; j++) a[j] = c[j] = -1, b[j] = 3, mine[j] = d[L * (first + j) + system];
    trid_block_interleaved(K, L, S, K * S, a, b, c, mine, shared);
    for (int j = 0; j < K; j++) x[L * (first + j) + system] = mine[j];
    __syncthreads();
    float unused = 0, held = (float)threadIdx.x;
    trid_block_interleaved_exchange(K, L, S, &unused, &held, shared);
    solver[(int)held] = (float)threadIdx.x;
}

static void lines()
{
    enum { K = LINES_K, L = LINES_L, S = LINES_S, N = K * S };
    float *device, host[2 * L * N + L * S], *d = host, *x = d + L * N, *solver = x + L * N;
    for (int i = 0; i < L * N; i++) d[i] = (float)(i % 7);
    cudaMalloc((void **)&device, sizeof host);
    cudaMemcpy(device, d, L * N * sizeof *d, cudaMemcpyHostToDevice);
    SIMT_LAUNCH(solve_lines, 1, L * S, 0, 0)(device, device + L * N, device + 2 * L * N);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(device);
    for (int system = 0; system < L; system++) {
        float column[5][N];
        for (int j = 0; j < N; j++)
            column[0][j] = column[2][j] = -1, column[1][j] = 3, column[3][j] = d[L * j + system],
            column[4][j] = x[L * j + system];
        claim(trid_host_residual_f32(N, column[0], column[1], column[2], column[3], column[4]) < 1e-6,
              "thread t has rows K (t / L) .. of system t % L");
    }

    begin(860, 476,
          "Eight interleaved systems of four partitions each: which thread holds which rows, and which solves which "
          "reduced row",
          "Interleaved systems: 8 systems of 16 rows, 32 threads (trid_block_interleaved)");
    text(16, 42, "small",
         "Along y or z of a grid, the rows of one system lie far apart in memory; equal rows of neighbouring systems "
         "are contiguous.");
    text(46, 76, "small", "Loading: thread t holds 4 rows of system t % 8, partition t / 8.");
    text(46, 92, "small", "Eight neighbouring threads read one row of all systems at a time.");
    text(500, 76, "small", "Solving by PCR: each reduced row goes through shared");
    text(500, 92, "small", "memory to the 4 lanes of its system, and back.");
    for (int side = 0; side < 2; side++) {
        const double left = side ? 500 : 90;
        text(left - 8, 114, "level", "system");
        for (int system = 0; system < L; system++) text(left + 40 * system + 18, 114, "tick", number(system));
    }
    for (int part = 0; part < S; part++) {
        const double top = 122 + 80 * part;
        for (int system = 0; system < L; system++) {
            for (int j = 0; j < K; j++)
                cell(90 + 40 * system, top + 20 * j, 37, 18, color(part), "t " + number(system + L * part));
            cell(500 + 40 * system, top + 30, 37, 18, color(part), "t " + number((int)solver[system + L * part]));
        }
        for (int j = 0; j < K; j++) text(82, top + 20 * j + 13, "level", "row " + number(K * part + j));
        arrow(414, top + 39, 490, top + 39);
    }
    claim((int)solver[2] == 8, "thread 8 solves for system 2");
    text(46, 464, "small",
         "So a thread loads for one system and solves for another: t 8 holds rows 4 .. 7 of system 0, and solves a row "
         "of system 2.");
}

/* ---- the padding of a transpose ---------------------------------------------------------------------------------- */

static void bank_picture(double top, int K, int padded, const char *title)
{
    const double left = 58, size = 24;
    int ways = 0, hit[32] = {0}, last = 0;
    text(left, top - 24, "small", title);
    for (int bank = 0; bank < 32; bank++) text(left + size * (bank + 0.5) - 1, top - 5, "tick", number(bank));
    std::vector<int> element((size_t)TRANSPOSE_LEN_F32(K) + 32, -1);
    for (int t = 0; t < 32 * K; t++) {
        int slot = padded ? transpose_index(32, K, t % K, t / K) : t;
        element[(size_t)slot] = t;
        last = std::max(last, slot);
        if (t % K == 0) ways = std::max(ways, ++hit[slot % 32]);
    }
    claim(padded ? ways == 1 : ways > 1, "padding, and nothing else, separates the banks");
    for (int slot = 0; slot <= last; slot++) {
        int t = element[(size_t)slot];
        cell(left + size * (slot % 32), top + size * (slot / 32), size - 2, size - 2,
             t < 0        ? "empty"
             : t % K == 0 ? "tint t2"
                          : "hole",
             t >= 0 && t % K == 0 ? number(t / K) : "");
    }
    text(left - 8, top + 15, "level", "word 0");
    text(left, top + size * (last / 32 + 1) + 14, "small",
         padded ? "Every lane has a bank of its own: one cycle. Dashed: a word of padding after every 32 words."
                : "The 32 lanes meet in " + number(32 / ways) + " banks: " + number(ways) + " cycles for one access.");
}

static void padding()
{
    enum { K = 8 };
    begin(860, 610,
          "Where 256 elements lie in the 32 banks of shared memory, without and with padding, and where each lane "
          "reads its first element",
          "The padding of a transpose: 8 elements for each of 32 lanes (transpose.h)");
    text(16, 42, "small",
         "A warp writes 256 elements in the order of memory. Then each lane reads 8 neighbouring elements, one at a "
         "time.");
    text(16, 57, "small",
         "Columns are the banks of shared memory, each of which delivers one word a cycle. A number marks the first "
         "element of that lane.");
    bank_picture(108, K, 0, "Without padding (element t in word t):");
    bank_picture(362, K, 1, "With padding (element i of lane j in word transpose_index(32, 8, i, j)):");
}

/* ---- the sweeps of bs3d.h ---------------------------------------------------------------------------------------- */

/* Finds how many rows of the x-y plane a block owns in implicit2's sweep up, and how many columns in its sweep down. */
static void find_bands(int points, int *rows, int *columns)
{
    bs3d_problem option = {{100, 100, 100},
                           {400, 400, 400},
                           {0.2, 0.2, 0.2},
                           {0, 0, 0},
                           {0.2, 0.2, 0.2},
                           100,
                           0.05,
                           1,
                           {points, points, points},
                           1,
                           BS3D_ASSET,
                           BS3D_CALL};
    void *work;
    cudaMalloc(&work, bs3d_work_bytes_f32(&option));
    claim(bs3d_implicit2_f32(&option, work, NULL, 0) == BS3D_OK, "implicit2 takes 256^3 points");
    cudaFree(work);
    size_t ends = 0;
    while (ends < noted.size() && noted[ends].kernel != (const void *)tb_f32::bs3d_p_solve_reduced<0>) ends++;
    claim(ends > 0 && ends + 1 < noted.size() &&
              noted[ends + 1].kernel == (const void *)tb_f32::bs3d_p_implicit2_down<8>,
          "implicit2 is a sweep up, the reduced systems, a sweep down");
    *rows = (points + (int)noted[ends - 1].grid.x - 1) / (int)noted[ends - 1].grid.x;
    *columns = (points + (int)noted[ends + 1].grid.x - 1) / (int)noted[ends + 1].grid.x;
}

/* Draws a sweep, with bands of `wide` rows or, downward, columns. */
static void sweep_picture(double left, bool downward, int points, int wide)
{
    const double top = 108, z = left + points + 34;
    const int bands = points / wide, chosen = bands / 3;
    const int parts = 4; /* as drawn; the device decides how many partitions there are */
    text(left, 68, "name left", downward ? "downward" : "upward");
    text(left, 84, "small", "a block: " + number(wide) + (downward ? " columns in x, all of y" : " whole rows in x"));
    for (int band = 0; band < bands; band++) {
        std::string style = band == chosen ? "d2" : band % 2 ? "tint t1" : "tint t6";
        if (downward)
            box(left + wide * band, top, wide, points, style);
        else
            box(left, top + points - wide * (band + 1), points, wide, style);
    }
    arrow(left, top + points + 12, left + 60, top + points + 12);
    text(left + 70, top + points + 16, "small", "x");
    arrow(left - 12, top + points, left - 12, top + points - 60);
    text(left - 16, top + points - 68, "small", "y");
    for (int s = 0; s < parts; s++) {
        box(z, top + 64 * s, 26, 60, "tint t1");
        arrow(z + 13, top + 64 * s + (downward ? 8 : 52), z + 13, top + 64 * s + (downward ? 52 : 8));
    }
    text(z + 13, top - 8, "tick", "z");
    text(z + 13, top + points + 16, "tick", "partitions");
    text(left, top + points + 36, "small",
         downward ? "back substitution in z, then the y lines, which lie whole"
                  : "right-hand side, then the x lines, which lie whole in a block,");
    text(left, top + points + 51, "small",
         downward ? "in a block, then u += v; reads v and u, writes u"
                  : "then forward elimination in z; reads u, writes v");
}

static void sweeps()
{
    const int points = 256;
    int rows, columns;
    find_bands(points, &rows, &columns);
    begin(860, 424,
          "Two sweeps over a grid of 256 points an axis: upward a block owns whole rows in x, downward whole columns "
          "in y",
          "What a block owns in the two sweeps of bs3d_implicit2: a time step on 256³ points");
    text(16, 42, "small",
         "Each block owns a band of the x-y plane and moves through the planes of its partition of z. One block is "
         "orange.");
    sweep_picture(58, false, points, rows);
    sweep_picture(468, true, points, columns);
}

int main(void)
{
    static const struct {
        const char *name;
        void (*draw)();
    } pictures[] = {{"lanes", lanes}, {"elimination", elimination}, {"pcr", pcr},
                    {"lines", lines}, {"padding", padding},         {"sweeps", sweeps}};
    for (const auto &picture : pictures) {
        printf("picture\t%s\n", picture.name);
        picture.draw();
    }
    return 0;
}
