/* cpu_residual.h - how well x solves a system, for the tests and benchmarks of cpu_avx.h: computed in long double, by
   code that shares nothing with what is tested. Include it once for each precision, which REAL, F(stem) and ROUNDOFF
   name.
   MIT licence, see LICENSE. */

/* Returns the largest |Ax - d| over the largest |A||x| + |d|, in roundoffs. */
static double F(residual_of)(int n, const REAL *a, const REAL *b, const REAL *c, const REAL *d, const REAL *x)
{
    long double residual = 0, size = 0;
    for (int j = 0; j < n; j++) {
        const long double left = j > 0 ? (long double)a[j] * x[j - 1] : 0, middle = (long double)b[j] * x[j];
        const long double right = j < n - 1 ? (long double)c[j] * x[j + 1] : 0;
        const long double r = fabsl(left + middle + right - d[j]);
        if (!(r <= residual)) residual = r;
        size = fmaxl(size, fabsl(left) + fabsl(middle) + fabsl(right) + fabsl((long double)d[j]));
    }
    return (double)(residual / size) / ROUNDOFF;
}

/* Returns the residual that the contract of cpu_avx_hybrid allows, in roundoffs, if a lane holds K rows and the
   dominance is 1 + excess. */
static double F(hybrid_bound)(int K, double excess)
{
    return 8 + 1 / (pow(K, 2.5) * excess) + (K < 2048 ? 0 : 0.05 / sqrt(excess));
}
