/* lines.h - a room of trid/batch.h: layouts of systems; whether elements coincide.
   MIT licence, see LICENSE. */

/* Returns the layout of contiguous systems: all rows of system 0, then all rows of system 1, and so on. */
TB_HOST trid_lines trid_lines_contiguous(long long n, long long systems)
{
    trid_lines lines = {n, 1, systems, n, 1, 0};
    return lines;
}

/* Returns the layout of interleaved systems: row 0 of all systems, then row 1 of all, and so on. */
TB_HOST trid_lines trid_lines_interleaved(long long n, long long systems)
{
    trid_lines lines = {n, systems, systems, 1, 1, 0};
    return lines;
}

/* Returns the lines of an nx*ny*nz array, x fastest, along axis 0 (x), 1 (y) or 2 (z). For any other axis, and for
   sizes that are negative or too large, it returns lines that launches refuse (TRID_BATCH_BAD_SIZE). */
TB_HOST trid_lines trid_lines_axis(long long nx, long long ny, long long nz, int axis)
{
    const long long most = 1ll << 56;
    trid_lines none = {-1, 0, 0, 0, 0, 0};
    if (nx < 0 || ny < 0 || nz < 0 || (ny > 0 && (nx > most / ny || nz > most / ny))) return none;
    /* y: if nz is 0, groups = 0 would mean one group */
    trid_lines x = {nx, 1, ny * nz, nx, 1, 0}, y = {ny, nx, nz ? nx : 0, 1, nz, nx * ny};
    trid_lines z = {nz, nx * ny, nx * ny, 1, 1, 0};
    return axis == 0 ? x : axis == 1 ? y : axis == 2 ? z : none;
}

/* Returns a caller's lines, with groups = 1 if the caller left it 0. Call it before counting systems or groups. */
TB_HOST trid_lines trid_p_lines_of(trid_lines lines)
{
    if (lines.groups == 0) lines.groups = 1;
    return lines;
}

/* Returns whether there is nothing to solve. */
TB_HOST int trid_p_lines_empty(trid_lines lines)
{
    return lines.n == 0 || lines.systems == 0;
}

/* Returns whether sizes are safe to calculate with: products of counts, and offsets, are at most 2^56, so scratch is
   below 2^62 bytes. `sides` is the number of arrays, and `between` their distance in elements. */
TB_HOST int trid_p_lines_valid(trid_lines lines, long long sides, long long between)
{
    const long long most = 1ll << 56, count[4] = {lines.n, lines.systems, lines.groups, sides};
    const long long pitch[4] = {lines.step, lines.stride, lines.jump, between};
    long long elements = 1, reach = 0;
    if (count[0] < 0 || count[1] < 0 || count[2] < 0 || count[3] < 0) return 0;
    if (trid_p_lines_empty(lines)) return 1;
    for (int k = 0; k < 4; k++) {
        if (count[k] > most / elements) return 0;
        elements *= count[k];
        if (count[k] < 2) continue;
        if (pitch[k] > most || pitch[k] < -most) return 0;
        long long size = pitch[k] < 0 ? -pitch[k] : pitch[k];
        if (size > (most - reach) / (count[k] - 1)) return 0;
        reach += size * (count[k] - 1);
    }
    return 1;
}

/* Returns whether there are i, |i| < m, and j, |j| < n, with i*p + j*q = at, not both 0 if at is 0.
   Needs    p, q >= 0; m, n >= 1 */
TB_HOST int trid_p_lines_meet(long long p, long long m, long long q, long long n, long long at)
{
    if (at == 0 && ((p == 0 && m > 1) || (q == 0 && n > 1))) return 1;
    if (p == 0 || m == 1) return at != 0 && q > 0 && at % q == 0 && at / q < n && at / q > -n;
    if (q == 0 || n == 1) return at != 0 && at % p == 0 && at / p < m && at / p > -m;
    long long a = p, b = q, u = 1, v = 0; /* u*p = a, v*p = b modulo q; a ends as the greatest common divisor */
    while (b) {
        long long t = a / b, next = a - t * b, w = u - t * v;
        a = b, b = next;
        u = v, v = w;
    }
    if (at % a) return 0;
    long long period = q / a, other = p / a; /* if i changes by period, j changes by other */
    if (at == 0) return period < m && other < n;
    /* Multiply bit by bit, so that nothing overflows: i = u * (at / a) modulo period. */
    long long x = u % period, y = at / a % period, i = 0;
    if (x < 0) x += period;
    if (y < 0) y += period;
    while (y) {
        if (y & 1) i = i >= period - x ? i - (period - x) : i + x;
        x = x >= period - x ? x - (period - x) : x + x;
        y /= 2;
    }
    /* Start from the least i above -m. j falls as i grows, so raise i until j < n. */
    long long shift = (m - 1 + i) / period;
    i -= shift * period;
    if (i >= m) return 0; /* so i * p does not overflow */
    long long j = (at - i * p) / q;
    if (j >= n) {
        long long steps = (j - n) / other + 1;
        if (steps > (m - 1 - i) / period) return 0;
        i += steps * period, j -= steps * other;
    }
    return i < m && j < n && j > -n;
}

/* Returns whether two elements lie `at` elements apart in memory; if at is 0, whether two different ones coincide. */
TB_HOST int trid_p_lines_difference(trid_lines lines, long long at)
{
    long long count[3] = {lines.n, lines.systems, lines.groups}, pitch[3] = {lines.step, lines.stride, lines.jump};
    long long reach = 0;
    int nested = 1;
    for (int k = 0; k < 3; k++) {
        pitch[k] = count[k] == 1 ? 0 : pitch[k] < 0 ? -pitch[k] : pitch[k];
        reach += pitch[k] * (count[k] - 1);
    }
    for (int k = 0; k < 3; k++) {
        long long within = -pitch[k] * (count[k] - 1); /* the reach of the other pitches that are not larger */
        for (int i = 0; i < 3; i++) within += pitch[i] <= pitch[k] ? pitch[i] * (count[i] - 1) : 0;
        if (count[k] > 1 && pitch[k] <= within) nested = 0;
    }
    if (at > reach || at < -reach) return 0;
    if (nested && at == 0) return 0; /* each pitch exceeds the reach of all smaller ones */
    if (reach == at || reach == -at) return 1;
    int least = 0; /* the dimension with the fewest elements: the loop below tries all differences of its indices */
    for (int k = 1; k < 3; k++)
        if (count[k] < count[least]) least = k;
    int one = (least + 1) % 3, two = (least + 2) % 3;
    for (long long g = at == 0 ? 0 : 1 - count[least]; g < count[least]; g++) {
        long long rest = at - g * pitch[least];
        if (rest == 0 && g != 0) return 1;
        if (trid_p_lines_meet(pitch[one], count[one], pitch[two], count[two], rest)) return 1;
    }
    return 0;
}

/* Checks whether an array may have this layout.
   Returns  TRID_BATCH_OK, _BAD_SIZE, or _OVERLAP if two elements coincide
   Cost     a few comparisons if each of step, stride and jump exceeds the distance that the smaller ones span, as
            they usually do; else an exact search, whose time grows with the least of n, systems and groups */
TB_HOST int trid_lines_check(trid_lines lines)
{
    lines = trid_p_lines_of(lines);
    if (!trid_p_lines_valid(lines, 1, 0)) return TRID_BATCH_BAD_SIZE;
    if (trid_p_lines_empty(lines)) return TRID_BATCH_OK;
    return trid_p_lines_difference(lines, 0) ? TRID_BATCH_OVERLAP : TRID_BATCH_OK;
}

/* Returns whether arrays of this layout at p and at q share memory. An element takes `bytes` bytes.
   Needs    valid lines
   Cost     a few comparisons if the arrays are the same or too far apart to overlap; else usually the exact search of
            trid_lines_check */
TB_HOST int trid_lines_overlap(trid_lines lines, const void *p, const void *q, int bytes)
{
    lines = trid_p_lines_of(lines);
    if (trid_p_lines_empty(lines)) return 0;
    size_t from = (size_t)p, to = (size_t)q;
    long long apart = from < to ? (long long)(to - from) : (long long)(from - to);
    long long at = apart / bytes, part = apart % bytes;
    if (at == 0) return 1; /* the same elements, or parts of them */
    return trid_p_lines_difference(lines, at) || (part && trid_p_lines_difference(lines, at + 1));
}

/* Returns the same systems in as few groups as possible. If there is only one system, sets the stride at which a second
   would follow. */
TB_HOST trid_lines trid_p_lines_join(trid_lines lines)
{
    if (lines.systems == 1) {
        lines.systems = lines.groups;
        lines.stride = lines.groups == 1 ? lines.n * lines.step : lines.jump;
        lines.groups = 1;
    } else if (lines.groups > 1 && lines.jump == lines.systems * lines.stride) {
        lines.systems *= lines.groups;
        lines.groups = 1;
    }
    return lines;
}

/* Returns whether neighbours in memory belong to neighbouring systems rather than to the same system.
   Needs    lines in as few groups as possible */
TB_HOST int trid_p_lines_are_interleaved(trid_lines lines)
{
    long long step = lines.step, stride = lines.stride;
    return lines.n > 1 && lines.systems > 1 && (stride < 0 ? -stride : stride) < (step < 0 ? -step : step);
}
