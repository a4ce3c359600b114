#!/usr/bin/env python3
"""heston_hw.py - a call under Heston's variance and Vasicek's short rate that is independent of both, from its
characteristic function: the known answer of examples/adi3d_heston_hw.cu.
MIT licence, see LICENSE.

With the rate's bond P(T) = exp(A - B r), the forward F = S / P moves as Heston's price does without a rate, and by the
bond: a Gaussian of variance W of its own. The call is, by Lewis' formula with k = log(F / K) and z = 1/2 + i u,
    P (F - sqrt(F K) / pi * integral of Re(exp(i u k) phi(z)) / (u^2 + 1/4) over u > 0)."""
import cmath
import math

strike, spot, maturity = 100.0, 100.0, 1.0
kappa, mean, sigma, rho, variance = 2.0, 0.04, 0.3, -0.6, 0.04
speed, level, spread, rate = 1.0, 0.05, 0.02, 0.03

b = -math.expm1(-speed * maturity) / speed
bond = math.exp((b - maturity) * (level - spread**2 / (2 * speed**2)) - spread**2 * b**2 / (4 * speed) - b * rate)
w = spread**2 / speed**2 * (maturity - 2 * b - math.expm1(-2 * speed * maturity) / (2 * speed))
forward = spot / bond


def phi(z):
    """E (F_T / F)^z"""
    beta = kappa - rho * sigma * z
    d = cmath.sqrt(beta * beta - sigma**2 * (z * z - z))
    g = (beta - d) / (beta + d)
    e = cmath.exp(-d * maturity)
    slope = (beta - d) / sigma**2 * (1 - e) / (1 - g * e)
    level_ = kappa * mean / sigma**2 * ((beta - d) * maturity - 2 * cmath.log((1 - g * e) / (1 - g)))
    return cmath.exp(level_ + slope * variance + w / 2 * (z * z - z))


def integrand(u):
    k = math.log(forward / strike)
    return (cmath.exp(1j * u * k) * phi(0.5 + 1j * u)).real / (u * u + 0.25)


steps, far = 200000, 200.0
h = far / steps
total = sum((1 if i in (0, steps) else 4 if i % 2 else 2) * integrand(i * h) for i in range(steps + 1)) * h / 3
print("%.10f" % (bond * (forward - math.sqrt(forward * strike) / math.pi * total)))
