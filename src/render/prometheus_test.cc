#include "render/prometheus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "table/named_samples.h"

namespace spotter::render {
namespace {

constexpr PrometheusStyle kOpenMetrics{true, 1000};

std::string page_of(const Table& table, const PrometheusStyle& style = {}) {
  const Table* tables[] = {&table};
  return render_prometheus(tables, style);
}

// The lines of one name; all others are left out.
std::string lines_of(const std::string& page, std::string_view name) {
  std::string found;
  for (size_t at = 0; at < page.size();) {
    const size_t end = page.find('\n', at) + 1;
    const std::string_view line(page.data() + at, end - at);
    if (line.starts_with(name) && (line[name.size()] == ' ' || line[name.size()] == '{')) found += line;
    at = end;
  }
  return found;
}

constexpr Field kGpu[] = {
    {"gpu", Type::integer, Unit::none, Role::key, "Which."},
    {"job", Type::text, Unit::none, Role::key, "Whose."},
    {"gpu_busy_ratio", Type::real, Unit::ratio, Role::value, "Share with work."},
    {"throttled_ns", Type::integer, Unit::ns, Role::counter, "Slowed for heat, \"or\\so\"."},
    {"lost", Type::flag, Unit::none, Role::value, "Whether it is gone."},
    {"seen_ns", Type::integer, Unit::ns, Role::time, "When."},
    {"state", Type::text, Unit::none, Role::value, "How it is."},
    {"uuid", Type::text, Unit::none, Role::detail, "Its name."},
    {"links", Type::integer, Unit::count, Role::detail, "How many."},
};

Table gpus() {
  Table table("gpu", kGpu);
  table.append({0, "a", 0.25, 1'500'000'000, false, 17, "idle", "GPU-1", 18});
  table.append({1, {}, {}, 2'000'000'000, true, {}, {}, {}, {}});
  return table;
}

// As programs named them; a family is told of once.
TEST(Prometheus, SamplesThatOthersNamed) {
  Table table("textfile_sample", table::kNamedSampleColumns);
  table.append({"n_total", "a=\"x\\\"\",job=\"b\"", "n_total", "counter", "Help\\\nme.", "f", {}, 1e15});
  table.append({"n_total", "", "n_total", "counter", "Help.", "f", {}, std::nan("")});
  table.append({"m", "", "m", "counter", {}, "f", {}, 0.1});
  table.append({"s", "quantile=\"0.5\"", "s", "summary", {}, "f", 2.0, {}});
  table.append({"s_sum", "", "s", "summary", {}, "f", {}, 3.0});
  table.append({"u", {}, "u", "untyped", {}, "f", -std::numeric_limits<double>::infinity(), {}});
  const std::string page = page_of(table);
  const std::string left_out = page.substr(page.find("# HELP spotter_exposition"));
  EXPECT_EQ(page.substr(0, page.size() - left_out.size()),
            "# HELP n_total Help\\\\\\nme.\n# TYPE n_total counter\n"
            "n_total{a=\"x\\\"\",job=\"b\"} 1e+15\n"
            "n_total NaN\n"
            "# TYPE m counter\nm 0.1\n"
            "# TYPE s summary\ns{quantile=\"0.5\"} 2\ns_sum 3\n"
            "# TYPE u untyped\nu -Inf\n");
  const std::string open_metrics = page_of(table, kOpenMetrics);
  for (const char* line : {"# TYPE n counter\nn_total", "# TYPE m unknown\nm 0.1", "# TYPE s summary\ns{",
                           "# TYPE u unknown\nu -Inf"})
    EXPECT_NE(open_metrics.find(line), std::string::npos) << line;
}

TEST(Prometheus, PartsOfATotalAreOneFamilyWithALabel) {
  static constexpr Total kTime = {"ns", "mode", "Time by mode."};
  static constexpr Field kCpu[] = {
      {"node", Type::integer, Unit::none, Role::key, "Which."},
      {"user_ns", Type::integer, Unit::ns, Role::counter, "In programs.", Since::boot, &kTime, "user"},
      {"forks", Type::integer, Unit::count, Role::counter, "Begun."},
      {"idle_ns", Type::integer, Unit::ns, Role::counter, "Without work.", Since::boot, &kTime, "idle"},
  };
  Table table("cpu", kCpu);
  table.append({0, i64{1'000'000'000}, 7, 2 * i64{1'000'000'000}});
  table.append({1, {}, 8, 3 * i64{1'000'000'000}});
  EXPECT_TRUE(
      page_of(table).starts_with("# HELP spotter_cpu_seconds_total Time by mode.\n"
                                 "# TYPE spotter_cpu_seconds_total counter\n"
                                 "spotter_cpu_seconds_total{node=\"0\",mode=\"user\"} 1\n"
                                 "spotter_cpu_seconds_total{node=\"0\",mode=\"idle\"} 2\n"
                                 "spotter_cpu_seconds_total{node=\"1\",mode=\"idle\"} 3\n"
                                 "# HELP spotter_cpu_forks_total"))
      << page_of(table);
  EXPECT_EQ(prometheus_name("cpu", kCpu[1]), "spotter_cpu_seconds_total{mode=\"user\"}");
}

TEST(Prometheus, Text) {
  EXPECT_EQ(page_of(gpus()),
            "# HELP spotter_gpu_busy_ratio Share with work.\n"
            "# TYPE spotter_gpu_busy_ratio gauge\n"
            "spotter_gpu_busy_ratio{gpu=\"0\",job_id=\"a\"} 0.25\n"
            "# HELP spotter_gpu_throttled_seconds_total Slowed for heat, \"or\\\\so\".\n"
            "# TYPE spotter_gpu_throttled_seconds_total counter\n"
            "spotter_gpu_throttled_seconds_total{gpu=\"0\",job_id=\"a\"} 1.5\n"
            "spotter_gpu_throttled_seconds_total{gpu=\"1\"} 2\n"
            "# HELP spotter_gpu_lost Whether it is gone.\n"
            "# TYPE spotter_gpu_lost gauge\n"
            "spotter_gpu_lost{gpu=\"0\",job_id=\"a\"} 0\n"
            "spotter_gpu_lost{gpu=\"1\"} 1\n"
            "# HELP spotter_gpu_info What is known of a row of gpu beside its numbers; always 1.\n"
            "# TYPE spotter_gpu_info gauge\n"
            "spotter_gpu_info{gpu=\"0\",job_id=\"a\",uuid=\"GPU-1\",links=\"18\"} 1\n"
            "# HELP spotter_exposition_rows_left_out Rows of a table that are not on this page: too many, or "
            "with the keys of another.\n"
            "# TYPE spotter_exposition_rows_left_out gauge\n"
            "spotter_exposition_rows_left_out{table=\"gpu\"} 0\n");
}

TEST(Prometheus, OpenMetrics) {
  EXPECT_EQ(page_of(gpus(), kOpenMetrics),
            "# HELP spotter_gpu_busy_ratio Share with work.\n"
            "# TYPE spotter_gpu_busy_ratio gauge\n"
            "# UNIT spotter_gpu_busy_ratio ratio\n"
            "spotter_gpu_busy_ratio{gpu=\"0\",job_id=\"a\"} 0.25\n"
            "# HELP spotter_gpu_throttled_seconds Slowed for heat, \\\"or\\\\so\\\".\n"
            "# TYPE spotter_gpu_throttled_seconds counter\n"
            "# UNIT spotter_gpu_throttled_seconds seconds\n"
            "spotter_gpu_throttled_seconds_total{gpu=\"0\",job_id=\"a\"} 1.5\n"
            "spotter_gpu_throttled_seconds_total{gpu=\"1\"} 2\n"
            "# HELP spotter_gpu_lost Whether it is gone.\n"
            "# TYPE spotter_gpu_lost gauge\n"
            "spotter_gpu_lost{gpu=\"0\",job_id=\"a\"} 0\n"
            "spotter_gpu_lost{gpu=\"1\"} 1\n"
            "# HELP spotter_gpu What is known of a row of gpu beside its numbers; always 1.\n"
            "# TYPE spotter_gpu info\n"
            "spotter_gpu_info{gpu=\"0\",job_id=\"a\",uuid=\"GPU-1\",links=\"18\"} 1\n"
            "# HELP spotter_exposition_rows_left_out Rows of a table that are not on this page: too many, or "
            "with the keys of another.\n"
            "# TYPE spotter_exposition_rows_left_out gauge\n"
            "spotter_exposition_rows_left_out{table=\"gpu\"} 0\n"
            "# EOF\n");
}

TEST(Prometheus, Names) {
  const auto name = [](const char* column, Unit unit, Role role = Role::value) {
    return prometheus_name("disk", {column, Type::integer, unit, role, ""});
  };
  EXPECT_EQ(name("read_bytes", Unit::bytes, Role::counter), "spotter_disk_read_bytes_total");
  EXPECT_EQ(name("disk_read_ns", Unit::ns, Role::counter), "spotter_disk_read_seconds_total");
  EXPECT_EQ(name("wait_ns", Unit::ns), "spotter_disk_wait_seconds");
  EXPECT_EQ(name("speed_bytes_per_s", Unit::bytes_per_s), "spotter_disk_speed_bytes_per_second");
  EXPECT_EQ(name("queue", Unit::count), "spotter_disk_queue");
  EXPECT_EQ(name("size", Unit::bytes), "spotter_disk_size_bytes");  // its unit is not in its name
  EXPECT_EQ(name("reads_total", Unit::count, Role::counter), "spotter_disk_reads_total");
  EXPECT_EQ(name("pages_total", Unit::count), "spotter_disk_pages");  // a gauge is no total
  EXPECT_EQ(name("total_bytes", Unit::bytes), "spotter_disk_total_bytes");
  EXPECT_EQ(name("busy_ratio", Unit::ratio), "spotter_disk_busy_ratio");
  EXPECT_EQ(name("drive_celsius", Unit::celsius), "spotter_disk_drive_celsius");
  EXPECT_EQ(name("power_watts", Unit::watts), "spotter_disk_power_watts");
  EXPECT_EQ(name("energy_joules", Unit::joules, Role::counter), "spotter_disk_energy_joules_total");
  EXPECT_EQ(name("clock_hertz", Unit::hertz), "spotter_disk_clock_hertz");
}

constexpr Field kTimes[] = {
    {"n", Type::integer, Unit::none, Role::key, ""},
    {"whole_ns", Type::integer, Unit::ns, Role::value, ""},
    {"real_ns", Type::real, Unit::ns, Role::value, ""},
    {"real", Type::real, Unit::none, Role::value, ""},
    {"whole", Type::integer, Unit::none, Role::value, ""},
};

TEST(Prometheus, NumbersKeepAllTheirDigits) {
  constexpr i64 kMost = std::numeric_limits<i64>::max(), kLeast = std::numeric_limits<i64>::min();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Table table("t", kTimes);
  table.append({0, 0, 0.0, 0.1, kMost});
  table.append({1, 1, 1.0, 1e300, kLeast});
  table.append({2, -1'000'000'001, 2.5e9, kInfinity, 0});
  table.append({3, kMost, {}, -kInfinity, -5});
  table.append({4, kLeast, {}, std::numeric_limits<double>::quiet_NaN(), 7});
  table.append({5, 120'340'000'000, {}, -0.5, {}});
  const std::string page = page_of(table);
  EXPECT_EQ(lines_of(page, "spotter_t_whole_seconds"),
            "spotter_t_whole_seconds{n=\"0\"} 0\n"
            "spotter_t_whole_seconds{n=\"1\"} 0.000000001\n"
            "spotter_t_whole_seconds{n=\"2\"} -1.000000001\n"
            "spotter_t_whole_seconds{n=\"3\"} 9223372036.854775807\n"
            "spotter_t_whole_seconds{n=\"4\"} -9223372036.854775808\n"
            "spotter_t_whole_seconds{n=\"5\"} 120.34\n");
  EXPECT_EQ(lines_of(page, "spotter_t_real_seconds"),
            "spotter_t_real_seconds{n=\"0\"} 0\n"
            "spotter_t_real_seconds{n=\"1\"} 1e-09\n"
            "spotter_t_real_seconds{n=\"2\"} 2.5\n");
  EXPECT_EQ(lines_of(page, "spotter_t_real"),
            "spotter_t_real{n=\"0\"} 0.1\n"
            "spotter_t_real{n=\"1\"} 1e+300\n"
            "spotter_t_real{n=\"2\"} +Inf\n"
            "spotter_t_real{n=\"3\"} -Inf\n"
            "spotter_t_real{n=\"4\"} NaN\n"
            "spotter_t_real{n=\"5\"} -0.5\n");
  EXPECT_EQ(lines_of(page, "spotter_t_whole"),
            "spotter_t_whole{n=\"0\"} 9223372036854775807\n"
            "spotter_t_whole{n=\"1\"} -9223372036854775808\n"
            "spotter_t_whole{n=\"2\"} 0\n"
            "spotter_t_whole{n=\"3\"} -5\n"
            "spotter_t_whole{n=\"4\"} 7\n");
}

constexpr Field kMounts[] = {
    {"mount", Type::text, Unit::none, Role::key, ""},
    {"is_full", Type::flag, Unit::none, Role::detail, ""},
    {"free_bytes", Type::integer, Unit::bytes, Role::value, ""},
};

TEST(Prometheus, LabelsOfAnyText) {
  Table table("m", kMounts);
  table.append({"/a\"b\\c\nd", {}, 1});
  table.append({"\xC3\xA4\xFF", true, 2});
  table.append({std::string_view("a\0b", 3), false, 3});
  table.append({"", {}, 4});
  const std::string page = page_of(table);
  EXPECT_EQ(lines_of(page, "spotter_m_free_bytes"),
            "spotter_m_free_bytes{mount=\"/a\\\"b\\\\c\\nd\"} 1\n"
            "spotter_m_free_bytes{mount=\"\xC3\xA4\xEF\xBF\xBD\"} 2\n"
            "spotter_m_free_bytes{mount=\"a\xEF\xBF\xBD"
            "b\"} 3\n"
            "spotter_m_free_bytes 4\n");
  EXPECT_EQ(lines_of(page, "spotter_m_info"),
            "spotter_m_info{mount=\"\xC3\xA4\xEF\xBF\xBD\",is_full=\"true\"} 1\n"
            "spotter_m_info{mount=\"a\xEF\xBF\xBD"
            "b\",is_full=\"false\"} 1\n");
}

TEST(Prometheus, NoSeriesTwice) {
  Table table("m", kMounts);
  table.append({"/", true, 1});
  table.append({"/", false, 2});
  table.append({{}, {}, 3});
  table.append({"", {}, 4});  // an empty label is none
  table.append({"\xFE", {}, 5});
  table.append({"\xFF", {}, 6});  // the same once it is well-formed
  const Table again = table;
  const Table* tables[] = {&table, &again};
  const std::string page = render_prometheus(tables);
  EXPECT_EQ(lines_of(page, "spotter_m_free_bytes"),
            "spotter_m_free_bytes{mount=\"/\"} 1\n"
            "spotter_m_free_bytes 3\n"
            "spotter_m_free_bytes{mount=\"\xEF\xBF\xBD\"} 5\n");
  EXPECT_EQ(lines_of(page, "spotter_m_info"), "spotter_m_info{mount=\"/\",is_full=\"true\"} 1\n");
  EXPECT_EQ(lines_of(page, "spotter_exposition_rows_left_out"),
            "spotter_exposition_rows_left_out{table=\"m\"} 9\n");
}

TEST(Prometheus, RowsAreLimited) {
  Table table("t", kTimes);
  for (i64 n = 0; n < 12; ++n) table.append({n, n, {}, {}, {}});
  const std::string page = page_of(table, {false, 10});
  const std::string lines = lines_of(page, "spotter_t_whole_seconds");
  EXPECT_EQ(std::ranges::count(lines, '\n'), 10);
  EXPECT_NE(lines.find("{n=\"9\"}"), std::string::npos);
  EXPECT_EQ(lines_of(page, "spotter_exposition_rows_left_out"),
            "spotter_exposition_rows_left_out{table=\"t\"} 2\n");
  EXPECT_EQ(page.find("spotter_t_real"), std::string::npos);  // no family without a sample
}

TEST(Prometheus, Nothing) {
  EXPECT_EQ(render_prometheus({}), "");
  EXPECT_EQ(render_prometheus({}, kOpenMetrics), "# EOF\n");
  EXPECT_EQ(lines_of(page_of(Table("m", kMounts)), "spotter_exposition_rows_left_out"),
            "spotter_exposition_rows_left_out{table=\"m\"} 0\n");
}

}  // namespace
}  // namespace spotter::render
