/* axis.h - a room of fd.h: grids, and values between their points.
   MIT licence, see LICENSE. */

/* How a place is aligned with the points. */
enum { FD_ANYWHERE, FD_ON_NODE, FD_MIDWAY };

/* The description of an axis. */
typedef struct {
    double low, high; /* its first and last point */
    int points;       /* at least 4 */
    int places;       /* 0 .. 3: how many entries of the arrays below are used; 0: uniform */
    double place[3];  /* in `low` .. `high`, increasing */
    double width[3];  /* points are almost evenly spaced up to about this distance from the place; beyond it, spacings
                         grow in proportion to the distance. 0: the place attracts no points */
    int align[3];     /* FD_ANYWHERE, FD_ON_NODE (ends are nodes), FD_MIDWAY between two nodes (not at an end) */
} fd_axis;

/* The map of an axis, for fd_map_point. The sum of asinh((x - place) / width) over the places that attract points grows
   with x. Point i is the x at which the sum has completed a share s of its growth from low to high, where
   v = i / (points - 1) and s = v + v (1 - v) (bend[0] + bend[1] v + bend[2] v^2). This polynomial puts places on nodes
   or midway between them. */
typedef struct {
    double low, high, start, growth, bend[3];
    double place[3], width[3]; /* those of the axis */
    double half[3];            /* half the distance between the two points around a place that lies midway */
    int twice[3];              /* twice the index of the place, odd if midway; -1: none */
    int points, places;
    int drawing, only; /* how many places have a width; the index of the last of them */
} fd_map;

/* Returns the sum of fd_map at x; it is x itself if no place attracts points. */
TB_HD double fd_p_crowd(const fd_map *map, double x)
{
    double sum = map->drawing ? 0 : x;
    for (int k = 0; k < map->places; k++)
        if (map->width[k] > 0) sum += asinh((x - map->place[k]) / map->width[k]);
    return sum;
}

/* Returns the derivative of the sum. */
TB_HD double fd_p_density(const fd_map *map, double x)
{
    double sum = map->drawing ? 0 : 1;
    for (int k = 0; k < map->places; k++) {
        double z = (x - map->place[k]) / map->width[k];
        if (map->width[k] > 0) sum += 1 / (map->width[k] * sqrt(1 + z * z));
    }
    return sum;
}

/* Inverts the sum: by a formula if at most one place attracts points, otherwise by Newton's method within a bracket.
   The method bisects if a step leaves the bracket, and at every fourth step, so that it always converges. It stops when
   no number lies within the bracket, or one step after the sum is right to within 1e-13, usually less than a millionth
   of what a spacing adds to the sum. */
TB_HD double fd_p_uncrowd(const fd_map *map, double sum)
{
    if (!map->drawing) return sum;
    if (map->drawing == 1) return map->place[map->only] + map->width[map->only] * sinh(sum);
    double low = map->low, high = map->high, x = low + (high - low) / 2;
    for (int i = 1; i < 400; i++) {
        double off = fd_p_crowd(map, x) - sum, next = x - off / fd_p_density(map, x);
        if (fabs(off) <= 1e-13) return next < map->low ? map->low : next > map->high ? map->high : next;
        if (off > 0)
            high = x;
        else
            low = x;
        double middle = low + (high - low) / 2;
        if (!(middle > low && middle < high)) return middle;
        x = next > low && next < high && i % 4 ? next : middle;
    }
    return x;
}

/* Returns the point of index v (points - 1), before aligned points are set to their places. */
TB_HD double fd_p_map_at(const fd_map *map, double v)
{
    double s = v + v * (1 - v) * (map->bend[0] + v * (map->bend[1] + v * map->bend[2]));
    return fd_p_uncrowd(map, map->start + s * map->growth);
}

/* Finds the polynomial s(v) of fd_map, with s(0) = 0 and s(1) = 1, that passes through `count` <= 3 given points
   (v[k], s[k]), by divided differences. Returns its least slope for v from 0 to 1. */
TB_HD double fd_p_bend(int count, const double *v, const double *s, double *bend)
{
    double d[3] = {0, 0, 0}, least = 1;
    for (int k = 0; k < count; k++) d[k] = (s[k] - v[k]) / (v[k] * (1 - v[k]));
    if (count > 2) d[2] = (d[2] - d[1]) / (v[2] - v[1]);
    if (count > 1) d[1] = (d[1] - d[0]) / (v[1] - v[0]);
    if (count > 2) d[2] = (d[2] - d[1]) / (v[2] - v[0]);
    bend[0] = d[0] - (count > 1 ? v[0] * d[1] : 0) + (count > 2 ? v[0] * v[1] * d[2] : 0);
    bend[1] = d[1] - (count > 2 ? (v[0] + v[1]) * d[2] : 0);
    bend[2] = d[2];
    /* The slope is 1 + c0 + c1 v + c2 v^2 + c3 v^3. It is least at an end or where c1 + 2 c2 v + 3 c3 v^2 = 0. */
    double c0 = bend[0], c1 = 2 * (bend[1] - bend[0]), c2 = 3 * (bend[2] - bend[1]), c3 = -4 * bend[2];
    double root = 4 * c2 * c2 - 12 * c3 * c1, q = -(c2 + (c2 < 0 ? -1 : 1) * sqrt(root > 0 ? root : 0) / 2);
    double at[4] = {0, 1, 0, 0};
    if (root >= 0 && fabs(q) < 3 * fabs(c3)) at[2] = q / (3 * c3);
    if (root >= 0 && fabs(c1) < fabs(q)) at[3] = c1 / q;
    for (int i = 0; i < 4; i++) {
        double slope = 1 + c0 + at[i] * (c1 + at[i] * (c2 + at[i] * c3));
        if (at[i] >= 0 && at[i] <= 1 && slope < least) least = slope;
    }
    return least;
}

/* Checks an axis's places and copies them to its map. Returns a status. */
TB_HD int fd_p_places(const fd_axis *axis, double range, fd_map *map)
{
    map->drawing = 0, map->only = 0;
    for (int k = 0; k < 3; k++)
        map->place[k] = 0, map->width[k] = 0, map->half[k] = 0, map->bend[k] = 0, map->twice[k] = -1;
    for (int k = 0; k < axis->places; k++) {
        double place = axis->place[k], width = axis->width[k];
        int align = axis->align[k];
        if (align != FD_ANYWHERE && align != FD_ON_NODE && align != FD_MIDWAY) return FD_BAD_ALIGNMENT;
        if (!trid_finite_f64(place) || !trid_finite_f64(width) || width < 0) return FD_BAD_NUMBER;
        if (width > 0 && width < 1e-9 * range) return FD_BAD_NUMBER;
        if (!(place >= axis->low && place <= axis->high)) return FD_PLACE_OUTSIDE;
        if (k > 0 && !(place > axis->place[k - 1])) return FD_PLACE_ORDER;
        if (align == FD_MIDWAY && (place <= axis->low || place >= axis->high)) return FD_PLACE_AT_END;
        map->place[k] = place, map->width[k] = width;
        if (width > 0) map->drawing++, map->only = k;
    }
    return FD_OK;
}

/* Computes the map from which fd_map_point computes the points of an axis.
   Needs    low < high; places from low to high, increasing; widths of 0, or of at least 1e-9 of the axis's length
   Returns  FD_OK, FD_BAD_ARGUMENT (null), FD_BAD_SIZE (points not in 4 .. 2^28, places not in 0 .. 3), FD_BAD_NUMBER
            (NaN, infinite, a length that is not positive and finite, a width negative or too small), FD_BAD_ALIGNMENT,
            FD_PLACE_OUTSIDE, FD_PLACE_ORDER, FD_PLACE_AT_END, FD_PLACES_SHARE or FD_PLACE_SQUEEZED
   Cost     a few asinh for each place that attracts points; for each place that lies midway, also a few rounds of two
            calls to fd_map_point */
TB_HD int fd_axis_map(const fd_axis *axis, fd_map *map)
{
    if (!axis || !map) return FD_BAD_ARGUMENT;
    if (axis->points < 4 || axis->points > FD_P_MOST || axis->places < 0 || axis->places > 3) return FD_BAD_SIZE;
    double range = axis->high - axis->low, last = axis->points - 1;
    if (!trid_finite_f64(axis->low) || !trid_finite_f64(range) || !(range > 0)) return FD_BAD_NUMBER;
    map->low = axis->low, map->high = axis->high, map->points = axis->points, map->places = axis->places;
    int wrong = fd_p_places(axis, range, map);
    if (wrong) return wrong;
    map->start = fd_p_crowd(map, axis->low);
    map->growth = fd_p_crowd(map, axis->high) - map->start;
    if (!trid_finite_f64(map->growth) || !(map->growth > 0)) return FD_BAD_NUMBER;

    /* Give each aligned place its index, and find its share of the growth. */
    int count = 0, which[3] = {0, 0, 0};
    double v[3] = {0, 0, 0}, s[3] = {0, 0, 0};
    for (int k = 0; k < axis->places; k++) {
        int midway = axis->align[k] == FD_MIDWAY;
        if (axis->align[k] == FD_ANYWHERE || axis->place[k] <= axis->low || axis->place[k] >= axis->high) continue;
        s[count] = (fd_p_crowd(map, axis->place[k]) - map->start) / map->growth;
        double index = midway ? floor(s[count] * last) + 0.5 : floor(s[count] * last + 0.5);
        double least = midway ? 1.5 : 1;
        index = index < least ? least : index > last - least ? last - least : index;
        int twice = (int)(2 * index), apart = 2 + midway + (count > 0 && axis->align[which[count - 1]] == FD_MIDWAY);
        if (count > 0 && twice - map->twice[which[count - 1]] < apart) return FD_PLACES_SHARE;
        map->twice[k] = twice;
        v[count] = index / last;
        which[count++] = k;
    }
    /* Midway in x is not midway in the share. The difference is of second order in the spacing. Each round corrects the
       share. */
    double rounding = 1e-15 * fd_p_max(fabs(axis->low), fabs(axis->high));
    for (int round = 0; round < 60; round++) {
        int placed = 1;
        if (count > 0 && !(fd_p_bend(count, v, s, map->bend) > 0.25)) return FD_PLACE_SQUEEZED;
        for (int m = 0; m < count; m++) {
            int k = which[m];
            if (axis->align[k] != FD_MIDWAY) continue;
            double below = fd_p_map_at(map, (map->twice[k] / 2) / last);
            double above = fd_p_map_at(map, (map->twice[k] / 2 + 1) / last);
            double error = (below - map->place[k]) / 2 + (above - map->place[k]) / 2;
            map->half[k] = (above - below) / 2;
            s[m] -= error * fd_p_density(map, map->place[k]) / map->growth;
            if (!(fabs(error) <= 1e-10 * map->half[k] + rounding)) placed = 0;
        }
        if (placed) return FD_OK;
    }
    return FD_PLACE_SQUEEZED;
}

/* Returns point i of an axis, 0 <= i < points. The ends and places on a node are exact to the bit. A place midway is
   the mean of its two neighbours to within rounding.
   Needs    a map that fd_axis_map returned with status 0
   Cost     at most one sinh; if two or three places attract points, about twenty steps with an asinh for each place */
TB_HD double fd_map_point(const fd_map *map, int i)
{
    if (i <= 0) return map->low;
    if (i >= map->points - 1) return map->high;
    for (int k = 0; k < map->places; k++) {
        if (map->twice[k] == 2 * i) return map->place[k];
        if (map->twice[k] == 2 * i + 1) return map->place[k] - map->half[k];
        if (map->twice[k] == 2 * i - 1) return map->place[k] + map->half[k];
    }
    return fd_p_map_at(map, i / (double)(map->points - 1));
}

/* Checks that coordinates form a grid: at least 4 of them, finite, each above the one before.
   Returns  FD_OK, FD_BAD_ARGUMENT for a null pointer, FD_BAD_SIZE for points not in 4 .. 2^28, or 1 + the index of the
            first wrong point */
TB_HD int fd_grid_check(int points, const double *x)
{
    if (points < 4 || points > FD_P_MOST) return FD_BAD_SIZE;
    if (!x) return FD_BAD_ARGUMENT;
    for (int i = 0; i < points; i++)
        if (!trid_finite_f64(x[i]) || (i > 0 && !(x[i] > x[i - 1]))) return 1 + i;
    return FD_OK;
}

/* Computes all points of an axis.
   Needs    room for axis->points numbers in x
   Returns  as fd_axis_map, or as fd_grid_check if points are so close that rounding makes two of them equal */
TB_HD int fd_axis_points(const fd_axis *axis, double *x)
{
    fd_map map;
    int status = x ? fd_axis_map(axis, &map) : FD_BAD_ARGUMENT;
    if (status) return status;
    for (int i = 0; i < map.points; i++) x[i] = fd_map_point(&map, i);
    return fd_grid_check(map.points, x);
}

/* ---- values at a point ------------------------------------------------------------------------------------------- */

/* The weights of a cubic through the grid points `first` .. `first + 3`, at a place. The sum of value[i] u[first + i]
   is its value there; slope[i] and curvature[i] likewise give its first two derivatives. */
typedef struct {
    int first;
    double value[4], slope[4], curvature[4];
} fd_weights;

/* Computes the interpolation weights at a place. The cubic runs through two points at or below the place and two above
   it or, near an end of the grid, through the four points at that end.
   Needs    a grid (fd_grid_check)
   Returns  FD_OK, FD_BAD_ARGUMENT, FD_BAD_SIZE, or FD_OUTSIDE: `at` is NaN or not in x[0] .. x[points-1]
   Cost     about 90 double operations, and log2(points) comparisons
   Error    exact for cubics; for a smooth function on points h apart, of order h^4 in the value, h^3 in the slope and
            h^2 in the curvature. At a node the value is the node's own */
TB_HD int fd_interpolate(int points, const double *x, double at, fd_weights *weights)
{
    if (!x || !weights) return FD_BAD_ARGUMENT;
    if (points < 4 || points > FD_P_MOST) return FD_BAD_SIZE;
    if (!trid_finite_f64(at) || !(at >= x[0] && at <= x[points - 1])) return FD_OUTSIDE;
    int low = 0, high = points - 1;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (x[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    int first = low < 1 ? 0 : low > points - 3 ? points - 4 : low - 1;
    weights->first = first;
    for (int i = 0; i < 4; i++) {
        double other[3], scale = 1;
        for (int k = 0, n = 0; k < 4; k++) {
            if (k == i) continue;
            other[n++] = at - x[first + k];
            scale *= x[first + i] - x[first + k];
        }
        weights->value[i] = other[0] * other[1] * other[2] / scale;
        weights->slope[i] = (other[0] * other[1] + other[0] * other[2] + other[1] * other[2]) / scale;
        weights->curvature[i] = 2 * (other[0] + other[1] + other[2]) / scale;
    }
    return FD_OK;
}
