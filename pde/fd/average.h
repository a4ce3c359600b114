/* average.h - a room of fd.h: averages over cells, for final values with kinks and jumps.
   MIT licence, see LICENSE. */

/* The user's function of one to three coordinates; kernels need one compiled for the device. */
typedef double fd_function(const double *x, const void *context);

/* Returns the average over `low` .. `high` of a function of one variable that is smooth between given kinks and jumps.
   Needs    kinks in increasing order; those outside `low` .. `high` do not matter
   Returns  the average; f(low) unless high > low
   Cost     4 calls inside each piece between kinks
   Error    rounding, for pieces that are polynomials up to degree 7; otherwise of the order of (high - low)^8 */
TB_HD double fd_average_told(double low, double high, int kinks, const double *kink, fd_function *f,
                             const void *context)
{
    /* Gauss-Legendre with four nodes. */
    const double node[2] = {0.33998104358485626, 0.86113631159405258};
    const double weight[2] = {0.65214515486254614, 0.34785484513745386};
    if (!(high > low)) return f(&low, context);
    double sum = 0, from = low;
    for (int k = 0; k <= kinks; k++) {
        double to = k < kinks && kink[k] < high ? kink[k] : high;
        if (!(to > from)) continue;
        double half = (to - from) / 2, middle = from + half, part = 0;
        for (int i = 0; i < 4; i++) {
            double x = i % 2 ? middle + half * node[i / 2] : middle - half * node[i / 2];
            part += weight[i / 2] * f(&x, context);
        }
        sum += half * part;
        from = to;
    }
    return sum / (high - low);
}

/* The data that fd_average passes from dimension to dimension. The user's function is a parameter, not a member: a
   compiler could not tell which function a pointer in memory means, and CUDA could not size the kernel's stack. */
typedef struct {
    double low[3], high[3], x[3], tolerance;
    int levels, found;
} fd_p_box;

/* Averages over one dimension. A piece is accepted if Lobatto's rule with five nodes agrees with the same rule on the
   two halves; otherwise it is halved, up to `levels` times. With a kink at certain points the two results agree by
   accident, so the test also bounds the divided differences of the first nine and of the last nine of the 11 nodes. The
   ends of a piece are nodes, so that no jump beside an end goes unseen. Pieces are visited from left to right; `index`
   counts pieces of size 2^-level. VALUE is the average over the lower dimensions, or the function itself. */
#define FD_P_AVERAGE(NAME, AXIS, VALUE)                                                                                \
    TB_HD double NAME(fd_p_box *box, fd_function *f, const void *context)                                              \
    {                                                                                                                  \
        const double node[6] = {0, 0.086336582323005714, 0.17267316464601143, 0.25, 0.41366341767699429, 0.5};         \
        const double whole[6] = {0.05, 0, 0.27222222222222222, 0, 0, 0.35555555555555556};                             \
        const double halves[6] = {0.025, 0.13611111111111111, 0, 0.17777777777777778, 0.13611111111111111, 0.05};      \
        const double divided[11] = {0.0085883089970615351,                                                             \
                                    -0.059302012168251914,                                                             \
                                    0.16941753640236021,                                                               \
                                    -0.19164192100152574,                                                              \
                                    0.21744484316184184,                                                               \
                                    -0.23330271408851702,                                                              \
                                    0.10042939453333638,                                                               \
                                    -0.015753352741705352,                                                             \
                                    0.0041199169054000877,                                                             \
                                    0,                                                                                 \
                                    0};                                                                                \
        double low = box->low[AXIS], range = box->high[AXIS] - low, sum = 0, largest = 0;                              \
        long long index = 0;                                                                                           \
        int level = 0;                                                                                                 \
        box->x[AXIS] = low;                                                                                            \
        if (!(range > 0)) return VALUE;                                                                                \
        do {                                                                                                           \
            double size = 1 / (double)(1ll << level), one = 0, two = 0, first = 0, last = 0;                           \
            for (int i = 0; i < 11; i++) {                                                                             \
                int n = i < 6 ? i : 10 - i;                                                                            \
                box->x[AXIS] = low + range * size * ((double)index + (i < 6 ? node[n] : 1 - node[n]));                 \
                double value = VALUE;                                                                                  \
                one += whole[n] * value;                                                                               \
                two += halves[n] * value;                                                                              \
                first += divided[i] * value;                                                                           \
                last += divided[10 - i] * value;                                                                       \
                largest = fd_p_max(largest, fabs(value));                                                              \
            }                                                                                                          \
            double error = fd_p_max(fabs(two - one), fd_p_max(fabs(first), fabs(last)));                               \
            if (size * error > box->tolerance * largest) {                                                             \
                box->found = 1;                                                                                        \
                if (level < box->levels) {                                                                             \
                    level++;                                                                                           \
                    index *= 2;                                                                                        \
                    continue;                                                                                          \
                }                                                                                                      \
            }                                                                                                          \
            sum += size * two;                                                                                         \
            for (index++; level > 0 && index % 2 == 0; level--) index /= 2;                                            \
        } while (level > 0);                                                                                           \
        return sum;                                                                                                    \
    }
FD_P_AVERAGE(fd_p_average1, 0, f(box->x, context))
FD_P_AVERAGE(fd_p_average2, 1, fd_p_average1(box, f, context))
FD_P_AVERAGE(fd_p_average3, 2, fd_p_average2(box, f, context))
#undef FD_P_AVERAGE

/* Returns the average of a function over a box of one to three dimensions. Searches for kinks and jumps itself.
   Needs    dims 1 .. 3. A tolerance below 1e-13 counts as 1e-13; levels are limited to 0 .. 40. Where high <= low, the
            function is evaluated at low
   Leaves   *found, unless null: whether some piece failed the test, as with a kink, a jump or a sharp bend
   Returns  the average; NaN if dims is out of range
   Cost     11 calls along a dimension where the function is smooth; along one that meets a kink, up to
            about 40 + 11 log2(1/tolerance); along one that meets a jump, 22 log2(1/tolerance); in several dimensions
            at most the product. With a kink, a tolerance of 1e-9 in one dimension takes hundreds of calls, 1e-6 in two
            dimensions about ten thousand. In three, take 1e-3 and 4 levels, as fd_final_as does
   Error    a few times tolerance times the function's largest value in the box, or 2^-levels times a jump. What happens
            between neighbouring nodes is missed, for example a jump up and down again; nodes are at most a sixth of
            the box apart */
TB_HD double fd_average(int dims, const double *low, const double *high, fd_function *f, const void *context,
                        double tolerance, int levels, int *found)
{
    fd_p_box box;
    unsigned long long nan = 0x7ff8000000000000u;
    double value;
    for (int d = 0; d < 3; d++) box.low[d] = box.high[d] = box.x[d] = 0;
    for (int d = 0; d < 3 && d < dims; d++) box.low[d] = low[d], box.high[d] = high[d];
    box.tolerance = fd_p_max(tolerance, 1e-13), box.found = 0;
    box.levels = levels < 0 ? 0 : levels > 40 ? 40 : levels;
    memcpy(&value, &nan, sizeof value);
    if (dims == 1) value = fd_p_average1(&box, f, context);
    if (dims == 2) value = fd_p_average2(&box, f, context);
    if (dims == 3) value = fd_p_average3(&box, f, context);
    if (found) *found = box.found;
    return value;
}

/* Returns the final value at a grid point. The point's cell extends half a spacing to each side. If fd_average finds a
   kink or a jump in the cell, the final value is the average over the cell. Otherwise it is the value at the point:
   averaging over an uneven cell would shift it by a quarter of the difference of the spacings times the slope. At the
   first and the last point of an axis the cell has no extent along that axis.
   Needs    for each axis d = 0 .. dims-1, coordinates x[d], their number points[d], and an index[d] among them;
            otherwise as fd_average
   Cost     as fd_average, plus one call if the value at the point is taken */
TB_HD double fd_final_value(int dims, const double *const *x, const int *points, const int *index, fd_function *f,
                            const void *context, double tolerance, int levels)
{
    double at[3] = {0, 0, 0}, low[3] = {0, 0, 0}, high[3] = {0, 0, 0};
    for (int d = 0; d < 3 && d < dims; d++) {
        int i = index[d], inside = i > 0 && i < points[d] - 1;
        at[d] = x[d][i];
        low[d] = inside ? at[d] - (at[d] - x[d][i - 1]) / 2 : at[d];
        high[d] = inside ? at[d] + (x[d][i + 1] - at[d]) / 2 : at[d];
    }
    int found;
    double average = fd_average(dims, low, high, f, context, tolerance, levels, &found);
    return found ? average : f(at, context);
}
