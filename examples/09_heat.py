"""Heat in a plate with a hole, written in Python: the edge is kept cold, the rim of the hole lets nothing through."""

import numpy as np

from farfield import stencil
from farfield.stencil import interior, let, where, x, y

p = stencil.Builder("plate")
n, kappa = p.param(n=96, kappa=0.2)
p.grid("g", x=n, y=n)
hole = p.subdomain("hole", (x, y), (x - n / 2) ** 2 + (y - n / 2) ** 2 < (n / 5) ** 2)
u = p.field("u", double_buffered=True, initial=where(x < n / 4, 100.0, 0.0))
inside = p.field("inside", read_only=True, initial=where(~hole, 1, 0))


def flow(neighbour, open_there):
    """Heat from a neighbour, where there is no hole."""
    return (neighbour - u) * open_there


gain = let("gain", flow(u[x - 1], inside[x - 1]) + flow(u[x + 1], inside[x + 1])
           + flow(u[y - 1], inside[y - 1]) + flow(u[y + 1], inside[y + 1]))  # fmt: skip
heat = p.update("heat", interior & ~hole, [gain, u.add(kappa * gain)])
p.step(heat)
p.record("hottest", u, reduce="max", every=50)
p.output(u, every=100)

if __name__ == "__main__":
    print(p.text)
    run = stencil.Run(p.program(n=64))
    run.advance(500)
    times, hottest = run.series("hottest")
    for time, value in zip(times, hottest):
        print(f"t = {time:5.0f}   hottest {value:8.4f}")
    field = run.field("u")
    print(f"mean temperature {np.mean(field):.4f}, computed by {run.description}")
