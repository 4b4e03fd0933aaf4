# 2D TE in vacuum by Meep, the peer of `farfield bench stencil` (which sums up the energy as well): 1e6 cell-steps/s,
# medians of three. Debian: apt install meep-openmpi python3-meep-openmpi python3-mpi4py python3-scipy python3-matplotlib
#     mpirun -np 2 --bind-to core python3 bench/meep_te.py
import time

import meep as mp

mp.verbosity(0)
for n in (512, 1024, 2048, 4096):
    simulation = mp.Simulation(
        cell_size=mp.Vector3(n, n),
        resolution=1,
        Courant=0.5,
        sources=[mp.Source(mp.GaussianSource(0.05, fwidth=0.05), component=mp.Hz, center=mp.Vector3())],
    )
    simulation.init_sim()
    steps = max(20, int(300e6 / (n * n)))
    for _ in range(20):
        simulation.fields.step()
    rates = []
    for _ in range(3):
        mp.all_wait()
        start = time.perf_counter()
        for _ in range(steps):
            simulation.fields.step()
        mp.all_wait()
        rates.append(1e-6 * n * n * steps / (time.perf_counter() - start))
    if mp.am_master():
        low, median, high = sorted(rates)
        ranks = mp.count_processors()
        print(f"Meep {mp.__version__}, {ranks} ranks, {n}^2: {median:.0f} ({low:.0f} to {high:.0f})", flush=True)
    simulation.reset_meep()
