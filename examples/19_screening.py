"""Debye screening, measured: the structure factor of the charges in the snapshots of 19_plasma.toml, and theory.

S(k) = <|sum_i q_i exp(-i k x_i)|^2> / (N q^2) is 1 if the charges know nothing of each other. In a plasma that is weakly
coupled, linear response to the mean field gives S(k) = 1/(1 + n q^2 v(k)/T), where v(k) is the Fourier transform of the
potential of a unit charge (Debye & Hueckel 1923; Hansen & McDonald, Theory of Simple Liquids, section 10.2). Of 1/r it is
4 pi/k^2, so that S = k^2/(k^2 + k_D^2) with k_D^2 = 4 pi n q^2/T; of the softened 1/sqrt(r^2 + e^2) it is 4 pi e K_1(k e)/k.
"""

import argparse
import pathlib

import h5py
import numpy as np


def bessel_k1(x):
    """K_1(x) = integral of exp(-x cosh t) cosh t over t > 0, by the trapezoidal rule."""
    t = np.linspace(0.0, 12.0, 2401)
    weights = np.full(t.size, t[1])
    weights[0] /= 2
    return (np.exp(-np.asarray(x)[..., None] * np.cosh(t)) * np.cosh(t)) @ weights


def transform(k, softening):
    """The Fourier transform of 1/sqrt(r^2 + softening^2)."""
    return 4 * np.pi / k**2 if softening == 0 else 4 * np.pi * softening * bessel_k1(k * softening) / k


def wave_shells(largest):
    """Wave numbers (integers, one of each +-pair) up to a length, by their squared length."""
    axis = np.arange(-largest, largest + 1)
    waves = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    squares = (waves**2).sum(axis=1)
    half = (waves @ (1, 2 * largest + 1, (2 * largest + 1) ** 2) > 0) & (squares <= largest**2)
    return waves[half], squares[half]


def structure_factor(path, waves):
    """S at each wave, with what theory needs: box, softening, density of particles, charge, temperature."""
    with h5py.File(path) as file:
        box = float(file["Header"].attrs["BoxSize"])
        softening = float(file["Farfield"].attrs["Softening"])
        part = file["PartType1"]
        x, q = part["Coordinates"][:], part["Charge"][:]
        energy = 0.5 * (part["Masses"][:] * (part["Velocities"][:] ** 2).sum(axis=1)).sum()
    amplitudes = np.exp(-2j * np.pi / box * (waves @ x.T)) @ q
    facts = {"box": box, "softening": softening, "density": len(q) / box**3, "charge": np.abs(q).mean(),
             "temperature": energy / (1.5 * (len(q) - 1))}  # fmt: skip
    return np.abs(amplitudes) ** 2 / (q @ q), facts


def times_of(paths):
    for path in paths:
        with h5py.File(path) as file:
            yield float(file["Header"].attrs["Time"])


def measure(folder, begin, largest, blocks=8):
    """Rows of k, S measured, its standard error, S of theory; and the temperature and the coupling of the plasma.

    Snapshots from the time `begin` on count. Their waves are averaged over directions; the error is that of the means of
    blocks of consecutive snapshots, which know little of each other.
    """
    paths = sorted(pathlib.Path(folder).glob("snapshot_*.h5"))
    paths = [path for path, time in zip(paths, times_of(paths)) if time >= begin]
    if len(paths) < blocks:
        raise SystemExit(f"{len(paths)} snapshots from t = {begin} on in {folder}; {blocks} are needed: let the run go on")
    waves, squares = wave_shells(largest)
    shells = np.unique(squares)
    means, temperatures = [], []
    for path in paths:
        values, facts = structure_factor(path, waves)
        means.append([values[squares == shell].mean() for shell in shells])
        temperatures.append(facts["temperature"])
    of_blocks = np.array([block.mean(axis=0) for block in np.array_split(np.array(means), blocks)])
    measured, error = of_blocks.mean(axis=0), of_blocks.std(axis=0, ddof=1) / np.sqrt(blocks)
    k = 2 * np.pi / facts["box"] * np.sqrt(shells)
    temperature = np.mean(temperatures)
    strength = facts["density"] * facts["charge"] ** 2 / temperature  # k_D^2 = 4 pi strength
    theory = 1 / (1 + strength * transform(k, facts["softening"]))
    return np.column_stack([k, measured, error, theory]), temperature, strength, facts


def debye_number(rows, softening):
    """k_D and its error from 1/S - 1 = k_D^2 v(k)/4 pi, each k weighted by its error."""
    k, measured, error, _ = rows.T
    shape = transform(k, softening) / (4 * np.pi)
    weight = (measured**2 / error) ** 2  # 1/S has the error of S over S^2
    square = (weight * shape * (1 / measured - 1)).sum() / (weight * shape**2).sum()
    return np.sqrt(square), 1 / np.sqrt((weight * shape**2).sum()) / (2 * np.sqrt(square))


def draw(rows, strength, softening, path):
    """A picture by matplotlib."""
    from matplotlib.figure import Figure

    k, measured, error, _ = rows.T
    figure = Figure(figsize=(8, 5), layout="tight")
    axes = figure.subplots()
    fine = np.linspace(1e-3, k[-1] * 1.03, 400)
    axes.plot(fine, 1 / (1 + strength * transform(fine, softening)), color="0.3", label="linear response, softened charges")
    axes.plot(fine, fine**2 / (fine**2 + 4 * np.pi * strength), ":", color="0.3", label="the same of point charges")
    axes.errorbar(k, measured, error, fmt="o", markersize=4, color="#c23b3b", label="snapshots")
    axes.axhline(1, color="0.8", zorder=0)
    axes.set(xlabel="k", ylabel="structure factor of the charges", xlim=(0, fine[-1]), ylim=(0, 1.1))
    axes.legend(loc="lower right", frameon=False)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", default="screened-plasma", help="of the run")
    parser.add_argument("--from", dest="begin", type=float, default=10.0, help="time from which snapshots count")
    parser.add_argument("--waves", type=int, default=6, help="largest wave number")
    parser.add_argument("--picture", help="a PNG, by matplotlib")
    arguments = parser.parse_args()
    rows, temperature, strength, facts = measure(arguments.folder, arguments.begin, arguments.waves)
    print("     k  S measured    error  S theory  deviations")
    for k, measured, error, theory in rows:
        print(f"{k:6.3f}      {measured:6.4f}   {error:6.4f}    {theory:6.4f}      {(measured - theory) / error:+6.2f}")
    wave_number, uncertainty = debye_number(rows, facts["softening"])
    print(f"temperature {temperature:.4f}; wave number of Debye: {wave_number:.4f} +- {uncertainty:.4f} measured, "
          f"{np.sqrt(4 * np.pi * strength):.4f} by 4 pi n q^2/T")  # fmt: skip
    if arguments.picture:
        draw(rows, strength, facts["softening"], arguments.picture)
        print(f"Files made:\n  {arguments.picture}")
