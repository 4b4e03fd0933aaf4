"""Where the airports of the United States are: their density by Gaussians, from the table that vega_datasets carries."""

import numpy as np
from vega_datasets import data

import farfield


def airports():
    """Positions in the contiguous states, east and north in km of an equirectangular map about 39° N, 97° W."""
    table = data.airports()
    there = table.latitude.between(24, 50) & table.longitude.between(-126, -66)
    longitude, latitude = table.longitude[there].to_numpy(), table.latitude[there].to_numpy()
    km_a_degree = 111.2
    return km_a_degree * np.column_stack([(longitude + 97) * np.cos(np.radians(39)), latitude - 39])


def estimate(points, cells=200):
    """The density of airports a km² on a grid, and the report."""
    east = np.linspace(points[:, 0].min() - 200, points[:, 0].max() + 200, cells)
    north = np.linspace(points[:, 1].min() - 200, points[:, 1].max() + 200, cells)
    grid = np.stack(np.meshgrid(east, north), axis=-1).reshape(-1, 2)
    result = farfield.density(points, targets=grid, bandwidth="silverman", method="fgt", tolerance=1e-6)
    return east, north, len(points) * result.density.reshape(cells, cells), result.report


def score(points, sigma):
    """Mean logarithm of the density at each airport by all others: the larger, the better the width."""
    density = farfield.density(points, bandwidth=sigma, self_term="exclude").density
    return np.log(np.maximum(density, 1e-300)).mean()


def draw(east, north, density, points, path):
    """A picture by matplotlib."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6))
    axes = figure.subplots()
    picture = axes.pcolormesh(east, north, 1e4 * density, shading="auto")
    axes.scatter(points[:, 0], points[:, 1], s=0.3, color="white")
    axes.set(aspect="equal", xlabel="east [km]", ylabel="north [km]", title=f"{len(points)} airports")
    figure.colorbar(picture, ax=axes, label="airports in 100 km × 100 km")
    figure.savefig(path)


if __name__ == "__main__":
    points = airports()
    east, north, density, report = estimate(points)
    top = np.unravel_index(density.argmax(), density.shape)
    print(f"{len(points)} airports; widths {report.widths[0]:.0f} km east, {report.widths[1]:.0f} km north")
    print(f"summed by method '{report.sum.method}', largest error {report.sum.errors[0].relative:.1e} of the largest density")
    print(f"densest at {east[top[1]]:.0f} km east, {north[top[0]]:.0f} km north: {1e4 * density.max():.1f} in 100 km × 100 km")
    print(f"airports counted on the grid: {density.sum() * (east[1] - east[0]) * (north[1] - north[0]):.0f}")
    widths = np.geomspace(20, 400, 12)
    print(f"best width by leave-one-out: {max(widths, key=lambda sigma: score(points, sigma)):.0f} km")
    draw(east, north, density, points, "airports.png")
    print("Files made:\n  airports.png")
