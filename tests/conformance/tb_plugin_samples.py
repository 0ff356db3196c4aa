"""What the TensorBoard plugin shows of its own samples (shared/traces/tb_plugin): the same numbers for who analyses and who looks."""

# Of its samples, for some of which only these numbers are recorded: mean parts of a step in us, percentages of the device, buckets.
S_CASES = {
    "resnet50_num_workers_0/worker0.1623143089861": ([98589, 1915, 89, 2908, 59262, 13674, 1156], 177592, [55.51, 54.68, 49.13, 0], range(5, 11), 10),
    "resnet50_num_workers_0/worker0.1623143566756": ([98535, 1734, 89, 4053, 35504, 13786, 1210], 154911, [63.61, 62.65, 49.14, 0], range(16, 22), 92),
    "resnet50_num_workers_4/worker0.1623212756351": ([99145, 3160, 98, 10564, 1186, 22665, 4251], 141068, [70.27, 69.22, 48.91, 0], range(5, 11), 84),
    "resnet50_num_workers_4/worker0.1623213129365": ([99044, 2885, 98, 10581, 292, 14313, 15596], 142808, [69.35, 68.32, 48.91, 0], range(16, 22), 85),
}
