"""Other people's readers open our snapshots and find the right numbers in the right units."""

import numpy as np
import pytest

import farfield

pytestmark = pytest.mark.filterwarnings("default")  # yt and pynbody warn about their own dependencies
UNIT_NAMES = ("UnitLength_in_cm", "UnitMass_in_g", "UnitVelocity_in_cm_per_s")
# IAU 2012 B2 (au) and the day; the solar mass from GM☉ = 1.32712440018e26 cm³/s² and G = 6.67430e-8 (CODATA 2018).
AU, DAY, SOLAR_MASS = 1.495978707e13, 86400.0, 1.32712440018e26 / 6.67430e-8


def h5py_or_skip():
    return pytest.importorskip("h5py", reason="h5py is not installed")


def run(tmp_path_factory, **initial):
    folder = tmp_path_factory.mktemp("snapshots") / "out"
    case = farfield.Case()
    for key, value in initial.items():
        setattr(case.initial, key, value)
    case.force.G = farfield.make_initial_state(**initial).G
    case.force.softening = 0.0 if initial["kind"] == "solar-system" else 0.125
    case.time.step, case.time.end = 0.25, 0.5
    case.output.pictures = False
    farfield.run_case(case, folder)
    simulation = farfield.Simulation(farfield.make_bodies(**initial), step=0.25, end=0.5, G=case.force.G,
                                     softening=case.force.softening)
    simulation.advance_to(0.5)
    return folder / "snapshot_0001.h5", simulation


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A snapshot in N-body units and the simulation it must agree with."""
    return run(tmp_path_factory, kind="plummer", n=300, seed=11)


@pytest.fixture(scope="module")
def planets(tmp_path_factory):
    """A snapshot in au, solar masses and days."""
    return run(tmp_path_factory, kind="solar-system")


def test_h5py_reads_the_numbers(cluster):
    path, simulation = cluster
    with h5py_or_skip().File(path) as file:
        bodies = file["PartType1"]
        np.testing.assert_array_equal(bodies["Coordinates"][:], simulation.positions)
        np.testing.assert_array_equal(bodies["Velocities"][:], simulation.velocities)
        np.testing.assert_array_equal(bodies["Masses"][:], simulation.masses)
        np.testing.assert_array_equal(bodies["ParticleIDs"][:], np.arange(1, 301))
        assert bodies["ParticleIDs"].dtype == np.uint64 and bodies["Coordinates"].dtype == np.float64
        header = file["Header"].attrs
        assert header["Time"] == 0.5 and header["NumFilesPerSnapshot"] == 1
        np.testing.assert_array_equal(header["NumPart_Total"], [0, 300, 0, 0, 0, 0])
        np.testing.assert_array_equal(header["NumPart_ThisFile"], [0, 300, 0, 0, 0, 0])
        assert [file["Parameters"].attrs[name] for name in UNIT_NAMES] == [1.0, 1.0, 1.0]
        assert file["Parameters"].attrs["GravityConstantInternal"] == 1.0
        assert file["Farfield"].attrs["Softening"] == 0.125


def test_h5py_finds_the_units(planets):
    path, _ = planets
    with h5py_or_skip().File(path) as file:
        length, mass, velocity = (file["Parameters"].attrs[name] for name in UNIT_NAMES)
        assert length == AU and mass == pytest.approx(SOLAR_MASS, rel=1e-4) and velocity == AU / DAY
        constant = file["Parameters"].attrs["GravityConstantInternal"]
        assert constant * length * velocity**2 / mass == pytest.approx(6.67430e-8, rel=1e-4)  # G in cgs
        assert file["PartType1/Coordinates"].attrs["to_cgs"] == length
        assert file["PartType1/Velocities"].attrs["velocity_scaling"] == 1.0


def load_with_yt(path):
    yt = pytest.importorskip("yt", reason="yt is not installed")
    yt.set_log_level("error")
    with h5py_or_skip().File(path) as file:
        unit_base = {name: file["Parameters"].attrs[name] for name in UNIT_NAMES}
    snapshot = yt.load(str(path), unit_base=unit_base)
    data = snapshot.all_data()
    order = np.argsort(data["PartType1", "ParticleIDs"].d)
    return snapshot, {name: data["PartType1", name][order] for name in ("Coordinates", "Velocities", "Masses")}


def test_yt_reads_the_numbers(cluster):
    path, simulation = cluster
    snapshot, arrays = load_with_yt(path)
    # yt goes through cgs and back, here with factors of 1.
    np.testing.assert_allclose(arrays["Coordinates"].to("code_length").d, simulation.positions, rtol=1e-15)
    np.testing.assert_allclose(arrays["Velocities"].to("code_velocity").d, simulation.velocities, rtol=1e-15)
    np.testing.assert_allclose(arrays["Masses"].to("code_mass").d, simulation.masses, rtol=1e-15)
    assert snapshot.current_time.to("code_time").d == 0.5 and not snapshot.cosmological_simulation


def test_yt_understands_the_units(planets):
    path, simulation = planets
    snapshot, arrays = load_with_yt(path)
    np.testing.assert_allclose(arrays["Coordinates"].to("au").d, simulation.positions, rtol=1e-6)
    kilometres = simulation.velocities * (AU / DAY / 1e5)
    np.testing.assert_allclose(arrays["Velocities"].to("km/s").d, kilometres, rtol=1e-12)
    assert arrays["Masses"][0].to("Msun").d == pytest.approx(1.0, rel=1e-3)
    assert snapshot.current_time.to("day").d == pytest.approx(0.5, rel=1e-12)


def test_pynbody_reads_the_numbers(planets):
    pynbody = pytest.importorskip("pynbody", reason="pynbody is not installed")
    path, simulation = planets
    snapshot = pynbody.load(str(path))
    assert len(snapshot.dm) == len(snapshot) == len(simulation.masses)
    order = np.argsort(snapshot.dm["iord"])
    np.testing.assert_allclose(snapshot.dm["pos"].in_units("au")[order], simulation.positions, rtol=1e-6)
    kilometres = simulation.velocities * (AU / DAY / 1e5)
    np.testing.assert_allclose(snapshot.dm["vel"].in_units("km s**-1")[order], kilometres, rtol=1e-12)
    assert float(snapshot.dm["mass"].in_units("Msol").max()) == pytest.approx(1.0, rel=1e-3)
    # pynbody's own Gyr differs from 365.25 days by less than this.
    assert float(snapshot.properties["time"].in_units("s")) == pytest.approx(0.5 * DAY, rel=1e-4)


def test_pynbody_takes_bodies_without_units_as_they_are(cluster):
    pynbody = pytest.importorskip("pynbody", reason="pynbody is not installed")
    path, simulation = cluster
    snapshot = pynbody.load(str(path))
    order = np.argsort(snapshot.dm["iord"])
    np.testing.assert_array_equal(snapshot.dm["pos"][order], simulation.positions)
    np.testing.assert_array_equal(snapshot.dm["vel"][order], simulation.velocities)
    np.testing.assert_array_equal(snapshot.dm["mass"][order], simulation.masses)
    # cm over cm/s; pynbody's own Gyr differs from 365.25 days by less than this.
    assert float(snapshot.properties["time"].in_units("s")) == pytest.approx(0.5, rel=1e-4)


def test_units_come_back_and_are_stated(planets, tmp_path):
    path, _ = planets
    again = farfield.make_initial_state("file", path=path)
    assert again.units.length.name == "au" and again.units.length.in_cgs == AU
    assert again.G_origin == "stored in the file"
    table = tmp_path / "b.csv"
    table.write_text("x,y,z,vx,vy,vz,m\n1,2,3,4,5,6,7\n")
    stated = farfield.make_initial_state("file", path=table, length_unit="pc", mass_unit="Msun", velocity_unit="km/s")
    assert stated.G == pytest.approx(4.30091e-3, rel=1e-5) and stated.units.velocity.in_cgs == 1e5
    with pytest.raises(farfield.InvalidArgument, match="no unit of length"):
        farfield.make_initial_state("file", path=table, length_unit="parsec", mass_unit="g", velocity_unit="km/s")
