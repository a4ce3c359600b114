function bs1d(file)
% bs1d.m - known answers for bs1d.h from the formulas of the model alone.
% MIT licence, see LICENSE.
%
%     octave-cli --path tests/model --eval "bs1d('tests/known/bs1d.txt')"
%
% or, in MATLAB, addpath tests/model, then the same call; about half a minute. The matrix A of the model is a sparse
% matrix here, an explicit step is u + A*u, an implicit one a backslash, and the Greeks are polynomials through four
% points: nothing is shared with the header, neither text nor order of operations.
%
% A line of the file is
%     case METHOD FLAGS POINTS STEPS SPOT STRIKE RATE DIVIDEND VOLATILITY MATURITY TOP  PRICE DELTA GAMMA THETA
% with the flags put 1, american 2, averaged 4, crank_nicolson 8; or, for the model problem at full size,
%     exact METHOD EXACT OWN
% the mean of the two points beside the strike, from 113-bit arithmetic by two other programs, and as found here.

put = 1; american = 2; averaged = 4; crank_nicolson = 8;

out = fopen(file, 'w');
fprintf(out, ['# Written by tests/model/bs1d.m in double precision; exact: from 113-bit arithmetic, two ' ...
              'independent programs.\n']);

% method 0 is explicit, 1 implicit; then flags, points, steps, spot, strike, rate, dividend, volatility, maturity, top
model = [0, 0, 256, 50000, 100, 100, 0.05, 0, 0.2, 1, 200;
         1, 0, 256,  2500, 100, 100, 0.05, 0, 0.2, 1, 200];
exact = {'10.4519706236429348623', '10.4515302206847423548'};
names = {'explicit', 'implicit'};
for i = 1:2
    [result, u] = march(model(i, :));
    fprintf(out, 'exact %s %s %.17g\n', names{i}, exact{i}, mean(u(128:129))); % points are counted from 0 there
    write(out, names, model(i, :), result);
end

% The rest takes few steps, so that a slow machine can follow. No spot lies on a point, where two cubics meet.
few = [ ...
    % explicit: 2 lambda_max + rate dt stays below 1
    0, 0,                   64,  200, 100,   100,  0.05,  0,     0.2,   1,    200;
    0, put,                100,  120,  93.1, 101,  0.03,  0.01,  0.25,  0.15, 230;
    0, averaged,           128,   77, 110.3, 105,  0.06,  0.02,  0.3,   0.04, 260;
    0, put + averaged,     255,  101,  55.5,  60, -0.01,  0.03,  0.15,  0.06, 130;
    0, american + put,      64,  150,  92,   100,  0.08,  0,     0.3,   0.35, 300;
    0, american + put + averaged, 64, 130, 95, 100, 0.07, 0.01,  0.3,   0.3,  290;
    0, american,           257,   64,  98.2, 100,  0.02,  0.12,  0.2,   0.02, 210;
    0, 0,                  300,   53,  61.7,  64,  0.04,  0,     0.35,  0.004, 128;
    0, put,                512,   29,   1.57,  1.6, 0.05, 0,     0.5,   0.0004, 4;
    0, 0,                  513,   40, 1003,  990,  0.01,  0.04,  0.1,   0.012, 2000;
    0, put,               1024,   17,  99.9, 100,  0.05,  0.02,  0.2,   0.0003, 200;
    0, 0,                   65,    1, 100.1, 100,  0.05,  0,     0.2,   0.004, 200;
    0, put,                 64,    7,   0.4,  50,  0.05,  0,     0.2,   0.03, 200;
    0, 0,                   64,   13, 199.5,  50,  0.05,  0.01,  0.2,   0.05, 200;
    % implicit: the last row is dominant as long as 2 (rate - dividend) dt (points - 1) < 1 + rate dt
    1, 0,                   64,   50, 100,   100,  0.05,  0,     0.2,   1,    200;
    1, put,                100,   60,  93.1, 101,  0.03,  0.01,  0.25,  0.5,  230;
    1, averaged,           128,   40, 110.3, 105,  0.06,  0.02,  0.3,   0.7,  260;
    1, put + averaged,     255,   33,  55.5,  60, -0.01,  0.03,  0.15,  2,    130;
    1, crank_nicolson,     256,   64, 104.3, 100,  0.05,  0,     0.2,   1,    200;
    1, crank_nicolson + put + averaged, 300, 48, 61.7, 64, 0.04, 0.01, 0.35, 0.5, 192;
    1, crank_nicolson,      64,    3, 100.1, 100,  0.01,  0,     0.2,   0.25, 200;
    1, american + put,     256,   60,  92,   100,  0.05,  0,     0.3,   1,    300;
    1, american,           257,   40,  98.2, 100,  0.02,  0.12,  0.2,   1,    210;
    1, american + put + averaged, 100, 50, 95, 101, 0.07, 0.01,  0.3,   0.6,  250;
    1, american + put + crank_nicolson, 128, 50, 97.3, 100, 0.06, 0.01, 0.25, 0.8, 220;
    1, 0,                  300,   50,  61.7,  64,  0.04,  0,     0.35,  0.5,  128;
    1, put,                512,   80,   1.57,  1.6, 0.05, 0,     0.5,   0.5,  4;
    1, 0,                  513,   60, 1003,  990,  0.01,  0.04,  0.1,   1,    2000;
    1, put,               1024,   45,  99.9, 100,  0.05,  0.02,  0.2,   0.5,  200;
    1, crank_nicolson,    1000,   30, 101.3, 100,  0.03,  0.02,  0.2,   0.5,  200;
    1, put,                 65,    1, 100.1, 100,  0.05,  0,     0.2,   0.1,  200;
    1, put,                 64,    7,   0.4,  50,  0.05,  0,     0.2,   0.5,  200;
    1, 0,                   64,   13, 199.5,  50,  0.05,  0.01,  0.2,   1,    200];
for i = 1:size(few, 1)
    result = march(few(i, :));
    write(out, names, few(i, :), result);
end
fclose(out);
end

function write(out, names, option, result)
fprintf(out, 'case %s %d %d %d', names{option(1) + 1}, option(2), option(3), option(4));
fprintf(out, ' %.17g', option(5:11), result);
fprintf(out, '\n');
end

% Price, delta, gamma and theta of an option, and the final values on the grid.
function [result, u] = march(option)
method = option(1); flags = option(2); points = option(3); steps = option(4); spot = option(5); strike = option(6);
rate = option(7); dividend = option(8); volatility = option(9); maturity = option(10); top = option(11);
is_put = bitand(flags, 1) > 0; is_american = bitand(flags, 2) > 0; is_averaged = bitand(flags, 4) > 0;
is_crank_nicolson = bitand(flags, 8) > 0;

h = top / (points - 1);
dt = maturity / steps;
j = (0:points - 1)';
s = h * j;

payoff = gain(s, strike, is_put); % what early exercise brings, which is no average
u = payoff;
if is_averaged
    inner = 2:points - 1;
    u(inner) = average(s(inner) - h / 2, s(inner) + h / 2, strike, is_put);
end

% du/dt = L u, with no second difference in the last row, and a first one that looks down.
lambda = volatility^2 * j.^2 / 2;
gamma = (rate - dividend) * j / 2;
below = lambda - gamma;
centre = -2 * lambda - rate;
above = lambda + gamma;
below(points) = -2 * gamma(points);
centre(points) = 2 * gamma(points) - rate;
L = spdiags([[below(2:points); 0], centre, [0; above(1:points - 1)]], [-1, 0, 1], points, points);
E = speye(points);

held = zeros(points, 1); % what early exercise adds to a value in a unit of time (the splitting's multiplier)
if method == 0
    for n = 1:steps
        u = u + dt * (L * u);
        if is_american
            u = max(u, payoff);
        end
    end
else
    if is_crank_nicolson
        size_of = [repmat(dt / 2, 1, 4), repmat(dt, 1, steps - 2)];
        weight = [ones(1, 4), repmat(0.5, 1, steps - 2)];
    else
        size_of = repmat(dt, 1, steps);
        weight = ones(1, steps);
    end
    for n = 1:numel(size_of)
        k = size_of(n);
        right = u + (1 - weight(n)) * k * (L * u);
        if is_american
            free = (E - weight(n) * k * L) \ (right + k * held);
            u = max(free - k * held, payoff);
            held = held + (u - free) / k;
        else
            u = (E - weight(n) * k * L) \ right;
        end
    end
end

% The cubic through the four points around the spot, in powers of the distance from the second of them; theta is what the
% PDE makes of the others, or nothing where exercise pays what the option is worth at both ends of the spot's cell.
first = min(max(floor(spot / h) - 1, 0), points - 4);
four = first + (1:4)';
x = (spot - s(first + 2)) / h;
p = [(-1:2)'.^3, (-1:2)'.^2, (-1:2)', ones(4, 1)] \ u(four);
price = [x^3, x^2, x, 1] * p;
delta = [3 * x^2, 2 * x, 1, 0] * p / h;
gam = [6 * x, 2, 0, 0] * p / h^2;
theta = rate * price - (rate - dividend) * spot * delta - volatility^2 * spot^2 * gam / 2;
cell = floor(spot / h) + (1:2)';
if is_american && all(u(cell) == payoff(cell))
    theta = 0;
end
result = [price, delta, gam, theta];
end

function g = gain(s, strike, is_put)
if is_put
    g = max(strike - s, 0);
else
    g = max(s - strike, 0);
end
end

% The mean of the gain between low and high: a linear part, a zero part, or in the cell of the strike a triangle.
function g = average(low, high, strike, is_put)
g = gain((low + high) / 2, strike, is_put);
cut = low < strike & strike < high;
if is_put
    g(cut) = (strike - low(cut)).^2 ./ (2 * (high(cut) - low(cut)));
else
    g(cut) = (high(cut) - strike).^2 ./ (2 * (high(cut) - low(cut)));
end
end
