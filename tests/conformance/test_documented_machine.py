"""Spotter beside node_exporter on a machine that is written from the kernel's documentation (tests/fixtures/machines/training_node):
hardware that the tests' own machine has not got. Both read the same files, so that each number is the same."""

import subprocess

import pytest

import harness
import metrics_compared
import monitoring

OURS = "hwmon,thermal,edac,nvme,nfs,conntrack"
THEIRS = ("hwmon", "thermal_zone", "edac", "nvme", "nfs", "mountstats", "conntrack")
TABLES = {"hwmon", "thermal_zone", "cooling_device", "edac", "edac_dimm", "edac_csrow", "nvme", "nfs_client", "nfs_mount",
          "nfs_operation", "conntrack"}


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("machine")
    subprocess.run([harness.ROOT / "tools" / "machine", "unpack", "training_node", folder], check=True)
    return folder


@pytest.fixture(scope="module")
def theirs(machine, tmp_path_factory):
    options = [f"--path.procfs={machine}/proc", f"--path.sysfs={machine}/sys", f"--path.rootfs={machine}", "--collector.disable-defaults",
               *[f"--collector.{name}" for name in THEIRS]]
    with monitoring.node_exporter(tmp_path_factory.mktemp("node_exporter"), *options) as url:
        samples = monitoring.samples_of(monitoring.fetch(url)[1])
    failed = [labels for (name, labels), value in samples.items() if name == "node_scrape_collector_success" and value != 1]
    assert failed == []
    return samples


@pytest.fixture(scope="module")
def ours(machine, tmp_path_factory):
    def has_all(samples):
        shown = {dict(labels)["table"] for name, labels in samples if name == "spotter_sample_timestamp_seconds"}
        return samples if shown >= TABLES else None
    with monitoring.Agent(tmp_path_factory.mktemp("agent"), OURS, {"root": str(machine)}) as agent:
        return monitoring.wait_for(lambda: has_all(agent.samples()), "the first samples")


def labelled(samples, name, *labels):
    """{labels: number} of one name."""
    return {tuple(dict(key[1]).get(label) for label in labels): value for key, value in samples.items() if key[0] == name}


def exactly(value):
    return pytest.approx(value, rel=1e-12, abs=0)  # theirs multiplies by 0.001, ours divides by 1000


def test_every_pair_is_equal(theirs, ours):
    compared = set()
    for pair in metrics_compared.PAIRS:
        for (name, labels), value in theirs.items():
            labels = dict(labels)
            if name != pair.node or any(labels.get(k) != v for k, v in pair.where):
                continue
            if labels.get("csrow") == "unknown" and not pair.where:
                continue
            key = (pair.ours, tuple(sorted([*[(here, labels[there]) for there, here in pair.labels], *pair.our_where])))
            if (pair.ours, labels.get("type")) == ("spotter_cooling_device_state", "intel_powerclamp"):
                assert value == -1 and key not in ours  # a state that it does not tell
                continue
            assert key in ours, f"{name} {labels}"
            assert ours[key] == exactly(value * pair.scale), f"{name} {labels}"
            compared.add(pair.ours)
    wanted = {p.ours for p in metrics_compared.PAIRS if p.ours.startswith(tuple(f"spotter_{t}_" for t in TABLES))}
    assert wanted == compared


def test_all_of_node_exporter_is_accounted_for(theirs):
    families = {name for name, _ in theirs if name.startswith("node_")}
    assert [f for f in sorted(families) if not metrics_compared.is_known_of_node(f)] == []


def test_names_of_chips_and_sensors(theirs, ours):
    chips = labelled(theirs, "node_hwmon_chip_names", "chip", "chip_name")
    known = labelled(ours, "spotter_hwmon_info", "chip", "chip_name")
    assert set(known) == {(chip, name if name != "power_meter" else "power meter") for chip, name in chips} and len(known) == 6
    labels = labelled(ours, "spotter_hwmon_info", "chip", "sensor", "label")
    assert set(labelled(theirs, "node_hwmon_sensor_label", "chip", "sensor", "label")) == {key for key in labels if key[2]}


def test_alarms_of_several_limits(theirs, ours):
    """Theirs are of one limit each, with a unit."""
    here = labelled(ours, "spotter_hwmon_alarm", "chip", "sensor")
    there = {}
    for (name, labels), value in theirs.items():
        if name.startswith("node_hwmon_") and "_alarm" in name and "intrusion" not in name:
            key = tuple(dict(labels)[k] for k in ("chip", "sensor"))
            there[key] = there.get(key, 0) + value
    assert {key: value > 0 for key, value in there.items()} == {key: value == 1 for key, value in here.items()}
    assert len(here) == 8 and sum(here.values()) == 2


def test_controllers_of_nvme(theirs, ours):
    there = labelled(theirs, "node_nvme_info", "device", "model", "serial", "firmware_revision", "state")
    assert set(labelled(ours, "spotter_nvme_info", "device", "model", "serial", "firmware", "state")) == set(there) and len(there) == 2


BYTES = {"read_bytes": "read_bytes", "write_bytes": "write_bytes", "direct_read_bytes": "direct_read_bytes",
         "direct_write_bytes": "direct_write_bytes", "total_read_bytes": "server_read_bytes", "total_write_bytes": "server_write_bytes"}
OPERATIONS = {"requests": "operations", "major_timeouts": "major_timeouts", "sent_bytes": "sent_bytes",
              "received_bytes": "received_bytes", "queue_time_seconds": "queue_time_seconds",
              "response_time_seconds": "response_time_seconds", "request_time_seconds": "execute_time_seconds"}


def test_mounts_of_nfs(theirs, ours):
    device_of = {mount: device for mount, device in labelled(ours, "spotter_nfs_mount_info", "mount_point", "device")}
    assert sorted(device_of) == ["/data sets", "/home"]
    for there, here in BYTES.items():
        values = labelled(ours, f"spotter_nfs_mount_{here}_total", "mount_point")
        # They leave escapes of blanks as they are.
        assert {device_of[mount].replace(" ", "\\040"): value for (mount,), value in values.items()} == {
            export: value for (export,), value in labelled(theirs, f"node_mountstats_nfs_{there}_total", "export").items()}, there


def test_operations_of_nfs(theirs, ours):
    device_of = {mount: device.replace(" ", "\\040") for mount, device in
                 labelled(ours, "spotter_nfs_mount_info", "mount_point", "device")}

    def there_of(name):
        return labelled(theirs, f"node_mountstats_nfs_operations_{name}_total", "export", "operation")

    def here_of(name):
        values = labelled(ours, f"spotter_nfs_operation_{name}_total", "mount_point", "operation")
        return {(device_of[mount], operation): value for (mount, operation), value in values.items()}
    used = {key for key, value in there_of("requests").items() if value > 0}
    assert len(used) == 6
    for there, here in OPERATIONS.items():
        known = here_of(here)
        assert known == {key: exactly(value) for key, value in there_of(there).items() if key in used}, there
    again = {key: value - there_of("requests")[key] for key, value in there_of("transmissions").items() if key in used}
    assert here_of("retransmissions") == again and sum(again.values()) == 8
    operations = labelled(ours, "spotter_nfs_mount_operations_total", "mount_point")
    assert {device_of[mount]: value for (mount,), value in operations.items()} == {
        export: sum(value for key, value in there_of("requests").items() if key[0] == export) for export in device_of.values()}
