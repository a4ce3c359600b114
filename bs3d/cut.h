/* cut.h - a room of bs3d.h: how the third axis is cut into slabs, one for each GPU, and a slab into partitions.
   MIT licence, see LICENSE. */

/* The parts of a slab: all of it; the outer part, for which its neighbours wait; the rest. */
enum { BS3D_ALL, BS3D_OUTER, BS3D_INNER };

/* A cut of the third axis into slabs, and one of the slabs (bs3d_slab_cut). */
typedef struct {
    int slabs, slab;   /* how many there are, and which one this is; slab 0 holds plane 0 */
    int first, planes; /* planes `first` .. `first + planes - 1` of the grid are its own */
    int below, above;  /* how many planes of slab - 1 and slab + 1 it copies: halo, or 0 at an end of the grid */
    int halo;
    int partitions;   /* implicit: partitions of its planes */
    int reach;        /* implicit: how many of a neighbour's partitions influence this slab; 0: those of all slabs do */
    int reduced, own; /* implicit: partitions in its reduced systems; the index of the slab's first one among them */
} bs3d_slab;

/* The data that a slab sends to another, and receives in return. */
typedef struct {
    const void *send;
    void *receive;
    size_t bytes;
} bs3d_message;

/* The planes that a launch on a slab visits. Planes `from` .. `from + planes - 1` are cut into `partitions` partitions,
   and partition n of the launch is partition first + n of these. From n = jump on, the launch skips `over` partitions
   and `apart` further planes. It visits no plane outside `low` .. `high` - 1. */
typedef struct {
    int from, planes, partitions, first, jump, over, apart, low, high;
} bs3d_p_span;

/* Finds the planes of a partition. */
TB_HD void bs3d_p_partition(int nz, int partitions, int partition, int *from, int *to)
{
    *from = nz * partition / partitions;
    *to = nz * (partition + 1) / partitions;
}

/* Returns the first of a slab's own planes; if slab = slabs, the number of planes. */
TB_HD int bs3d_p_slab_first(int nz, int slabs, int slab)
{
    return (int)((long long)nz * slab / slabs);
}

/* Finds a slab's own planes in partition s: `from` .. `to` - 1, numbered as in the grid. The partitions divide the slab
   and its halo planes, one for each neighbour, into parts that differ by at most one plane. */
TB_HD void bs3d_p_slab_partition(int nz, int slabs, int slab, int partitions, int s, int *from, int *to)
{
    const int low = bs3d_p_slab_first(nz, slabs, slab), high = bs3d_p_slab_first(nz, slabs, slab + 1);
    const int start = low - (slab > 0);
    bs3d_p_partition(high + (slab < slabs - 1) - start, partitions, s, from, to);
    *from = *from + start < low ? low : *from + start;
    *to = *to + start > high ? high : *to + start;
}

/* A row of a partition's z systems after elimination: x[k] = r (y[k] - c x[next] - g x[outside]), where
   y[k] = d[k] - l y[before], and x[outside] is the unknown before the partition. */
typedef struct {
    double l, r, g, c;
} bs3d_p_pivot;

/* Eliminates row k. *p holds the previous row, or zeros for the partition's first row, and receives row k. If `down` is
   set, the elimination goes from the partition's last plane to its first. */
TB_HD void bs3d_p_eliminate_row(const bs3d_model *m, int k, int first, int down, bs3d_p_pivot *p)
{
    double below, centre, above;
    bs1d_lane_matrix(bs3d_axis_of(m, 2), 1, k, &below, &centre, &above);
    const double a = down ? above : below, c = down ? below : above;
    p->l = a * p->r;
    p->g = first ? a : -p->l * p->g;
    p->r = 1 / (centre - p->l * p->c);
    p->c = c;
}

#if TB_HOST_SCOPE
/* Returns the larger magnitude of two couplings: that of a partition's last unknown to the unknown before the
   partition, and that of its first unknown to its last. */
TB_HOST double bs3d_p_coupling(const bs3d_model *m, int from, int to)
{
    double product = 1;
    bs3d_p_pivot p = {0, 0, 0, 0};
    for (int k = from; k < to; k++) {
        bs3d_p_eliminate_row(m, k, k == from, 0, &p);
        if (k + 1 < to) product *= p.c * p.r;
    }
    return fabs(p.g * p.r) > fabs(product) ? fabs(p.g * p.r) : fabs(product);
}

/* Returns how many of a neighbour's partitions influence a slab: the least number across which the coupling falls below
   the unit roundoff, wherever two slabs meet; 0 if a slab has too few partitions for that. */
TB_HOST int bs3d_p_slab_reach(const bs3d_model *m, int slabs, int partitions, double roundoff)
{
    int most = 1;
    for (int border = 1; border < slabs; border++) {
        for (int up = 0; up < 2; up++) {
            double seen = 1;
            int from, to, n = 0;
            for (; n < partitions && !(seen < roundoff); n++) {
                int s = up ? n : partitions - 1 - n;
                bs3d_p_slab_partition(m->points[2], slabs, up ? border : border - 1, partitions, s, &from, &to);
                seen *= bs3d_p_coupling(m, from, to);
            }
            if (!(seen < roundoff)) return 0;
            if (n > most) most = n;
        }
    }
    return most;
}

/* Cuts the grid of a problem into `slabs` slabs, and describes one of them in *cut. An explicit march copies `halo`
   planes of each neighbour, one for each step between two exchanges; `partitions` is then ignored. An implicit march
   copies one plane, whatever `halo` is; `partitions` must be the same on all GPUs (bs3d_slab_partitions suggests it).
   Needs    in every slab at least 4 planes, and at least `halo` (explicit) or 4 * `partitions` (implicit); `halo` 1 to
            32 (explicit), `partitions` 1 to 8 (implicit)
   Returns  BS3D_OK, or as bs3d_check, except that the third axis may have up to 1024 points per slab.
            BS3D_BAD_ARGUMENT also means a null cut, a slab that does not exist, or BS3D_GIVEN; BS3D_BAD_SIZE also means
            `slabs` outside 1 .. 4096, a condition of Needs that is not met, or more than 64 partitions that all
            depend on each other
   Cost     a check of the problem; for an implicit march also tens of operations per plane of the grid */
TB_HOST int bs3d_slab_cut(const bs3d_problem *o, int implicit, int is_double, int slabs, int slab, int halo,
                          int partitions, bs3d_slab *cut)
{
    int status = bs3d_slab_check(o, implicit, slabs), nz;
    if (status) return status;
    if (!cut || slab < 0 || slab >= slabs || o->payoff == BS3D_GIVEN) return BS3D_BAD_ARGUMENT;
    nz = o->points[2];
    memset(cut, 0, sizeof *cut);
    cut->slabs = slabs;
    cut->slab = slab;
    cut->first = bs3d_p_slab_first(nz, slabs, slab);
    cut->planes = bs3d_p_slab_first(nz, slabs, slab + 1) - cut->first;
    cut->halo = implicit ? 1 : halo;
    cut->below = slab > 0 ? cut->halo : 0;
    cut->above = slab < slabs - 1 ? cut->halo : 0;
    int least = nz / slabs; /* the fewest planes in a slab */
    if (least < 4 || cut->halo < 1 || cut->halo > 32 || least < cut->halo) return BS3D_BAD_SIZE;
    if (!implicit) return BS3D_OK;
    if (partitions < 1 || partitions > 8 || least < 4 * partitions) return BS3D_BAD_SIZE;
    bs3d_model m = bs3d_model_of(o);
    cut->partitions = partitions;
    cut->reach = bs3d_p_slab_reach(&m, slabs, partitions, is_double ? 1.1e-16 : 6e-8);
    cut->own = cut->reach ? (slab > 0 ? cut->reach : 0) : slab * partitions;
    cut->reduced = cut->reach ? cut->own + partitions + (slab < slabs - 1 ? cut->reach : 0) : slabs * partitions;
    return cut->reduced <= BS3D_P_MOST_REDUCED ? BS3D_OK : BS3D_BAD_SIZE;
}

/* Finds the planes that an explicit sweep visits for a part of a slab, and returns their number. BS3D_OUTER visits the
   planes that the neighbours copy, BS3D_INNER the others. In a slab too thin to be split, BS3D_OUTER visits what
   BS3D_ALL does: all planes, and up to `extra` copied planes on each side. BS3D_INNER then visits none. */
TB_HOST int bs3d_p_slab_part(const bs3d_slab *cut, int part, int extra, bs3d_p_span *span)
{
    const int low = cut->below ? cut->halo : 0, high = cut->above ? cut->halo : 0;
    const int whole = cut->planes < low + high + 4; /* too few planes to split */
    const bs3d_p_span none = {0, 0, 0, 0, 1, 0, 0, 0, cut->below + cut->planes + cut->above};
    *span = none;
    if (part == BS3D_ALL || (part == BS3D_OUTER && whole)) {
        int down = extra < cut->below ? extra : cut->below, up = extra < cut->above ? extra : cut->above;
        span->from = cut->below - down;
        span->planes = cut->planes + down + up;
    } else if (part == BS3D_INNER && !whole) {
        span->from = cut->below + low;
        span->planes = cut->planes - low - high;
    } else if (part == BS3D_OUTER) {
        span->from = low ? cut->below : cut->below + cut->planes - high;
        span->planes = low + high;
        span->partitions = (low > 0) + (high > 0);
        span->apart = cut->planes - low - high;
    }
    return span->planes;
}
#endif
