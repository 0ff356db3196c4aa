#include "wire/nccl_ras.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace spotter::wire {
namespace {

// As NCCL 2.28.9 writes it; `counts`: of AllReduce, of the ranks 0, 1 ...
std::string as_json(const std::vector<i64>& counts, const std::string& missing = "") {
  std::string ranks;
  for (size_t i = 0; i < counts.size(); ++i)
    ranks += fmt::format(
        "{}        {{\n          \"rank\": {},\n          \"host\": \"10.0.0.{}\",\n          \"pid\": {},\n"
        "          \"cuda_dev\": 0,\n          \"nvml_dev\": {},\n          \"status\": {{\n"
        "            \"init_state\": 0,\n            \"async_error\": 0,\n            \"finalize_called\": false,\n"
        "            \"destroy_flag\": false,\n            \"abort_flag\": false\n          }},\n"
        "          \"collective_counts\": {{\n            \"Broadcast\": 2,\n            \"AllReduce\": {}\n"
        "          }}\n        }}",
        i == 0 ? "" : ",\n", i, i, 100 + i, i, counts[i]);
  return fmt::format(
      "OK\nOK\n{{\n  \"nccl_version\": \"2.28.9\",\n  \"cuda_runtime_version\": 12080,\n"
      "  \"cuda_driver_version\": 12080,\n  \"timestamp\": \"2026-11-23 04:46:46\",\n"
      "  \"communicators_count\": 1,\n  \"communicators\": [\n    {{\n      \"hash\": \"0x27a079b828ff1a75\",\n"
      "      \"secondary_hash\": \"0x1:0x2\",\n      \"size\": {0},\n      \"ranks_count\": {0},\n"
      "      \"missing_ranks_count\": 0,\n      \"ranks\": [\n{1}\n      ],\n      \"missing_ranks\": [{2}]\n"
      "    }}\n  ],\n  \"ras\": {{\n    \"collection_time_sec\": 0.010,\n    \"timeouts_count\": 1\n  }}\n}}\n",
      counts.size(), ranks, missing);
}

// As NCCL 2.27 writes it.
std::string as_text(const std::string& errors, const std::string& warnings) {
  return "OK\nERROR: Unknown command SET FORMAT json\nNCCL version 2.27.5 compiled with CUDA 12.9\n"
         "CUDA runtime version 12090, driver version 12090\n\nJob summary\n===========\n\n"
         "  Nodes  Processes         GPUs  Processes     GPUs\n(total)   per node  per process    (total)  (total)\n"
         "      4          8            1         32       32\n\nCommunicators... (0.00s)\n=============\n\n"
         "Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors\n"
         "    #  in group  per comm  per node  per comm  in group\n"
         "    0         1         4         8        32        32   RUNNING  MISMATCH\n"
         "\nErrors\n======\n\n" +
         errors + "Warnings\n========\n\n" + warnings;
}
const std::string kMismatch =
    "#0-0 (27a079b828ff1a75) MISMATCH\n"
    "  Communicator ranks have different AllReduce operation counts\n"
    "  29 ranks have launched up to operation 6650\n"
    "  2 ranks have launched up to operation 6649\n"
    "  Rank 0 -- GPU 0 managed by process 483072 on node 172.16.64.210\n"
    "  Rank 2 -- GPU 1 (NVML 2) managed by process 483074 on node 172.16.64.210\n"
    "  Rank 7 has not launched any operations -- GPU 7 managed by process 483079 on node 172.16.64.211\n\n";

RasAnswer read(const std::string& text) {
  auto answer = read_ras_answer(text);
  EXPECT_TRUE(answer) << answer.error().message;
  return answer ? std::move(*answer) : RasAnswer{};
}

TEST(NcclRas, ReadsJson) {
  const RasAnswer answer =
      read(as_json({7, 6, 7}, R"({"rank": 3, "host": "unknown", "pid": -1, "cuda_dev": 0, "nvml_dev": 3,
                             "status": {"unresponsive": true, "considered_dead": false}})"));
  EXPECT_EQ(answer.version, "2.28.9");
  EXPECT_EQ(answer.timeouts, 1);
  ASSERT_EQ(answer.communicators.size(), 1u);
  const RasCommunicator& communicator = answer.communicators[0];
  EXPECT_EQ(communicator.hash, 0x27a079b828ff1a75u);
  EXPECT_EQ(communicator.size, 3);
  ASSERT_EQ(communicator.ranks.size(), 3u);
  EXPECT_EQ(communicator.ranks[1].rank.host, "10.0.0.1");
  EXPECT_EQ(communicator.ranks[1].rank.pid, 101);
  EXPECT_EQ(communicator.ranks[1].rank.gpu, 1);
  EXPECT_EQ(communicator.ranks[1].launched,
            (std::vector<std::pair<std::string, i64>>{{"Broadcast", 2}, {"AllReduce", 6}}));
  ASSERT_EQ(communicator.mismatches.size(), 1u);
  EXPECT_EQ(communicator.mismatches[0].operation, "AllReduce");
  ASSERT_EQ(communicator.mismatches[0].groups.size(), 2u);
  EXPECT_EQ(communicator.mismatches[0].groups[0].launched, 6);
  EXPECT_EQ(communicator.mismatches[0].groups[0].named[0].rank, 1);
  EXPECT_EQ(communicator.mismatches[0].groups[1].ranks, 2);
  ASSERT_EQ(communicator.missing.size(), 1u);
  EXPECT_EQ(communicator.missing[0].rank, 3);
  EXPECT_EQ(communicator.missing[0].host, "");
}

TEST(NcclRas, ReadsText) {
  const RasAnswer answer = read(as_text(
      "INCOMPLETE\n  Missing communicator data from 1 job process\n"
      "  Process 5 on node 10.0.0.9 managing GPU 3\n\n"
      "#0-1 (00000000000000ab) INCOMPLETE\n  Missing communicator data from 2 ranks\n"
      "  Rank 3 -- GPU 3 managed by process 5 on node 10.0.0.9\n  Rank 4 -- [process information not found]\n\n",
      "TIMEOUT\n  Encountered 2 communication timeouts while gathering communicator data\n\n" + kMismatch +
          "#0-2 (00000000000000cd) MISMATCH\n  Communicator ranks have different status\n"
          "  31 ranks have status RUNNING\n  Rank 3 has status ABORT -- GPU 3 managed by process 5 on node 10.0.0.9\n\n"));
  EXPECT_EQ(answer.version, "2.27.5");
  EXPECT_EQ(answer.timeouts, 2);
  ASSERT_EQ(answer.communicators.size(), 3u);
  EXPECT_EQ(answer.communicators[0].hash, 0xabu);
  ASSERT_EQ(answer.communicators[0].missing.size(), 2u);
  EXPECT_EQ(answer.communicators[0].missing[0].pid, 5);
  EXPECT_EQ(answer.communicators[0].missing[1].rank, 4);
  EXPECT_EQ(answer.communicators[0].missing[1].pid, -1);
  ASSERT_EQ(answer.communicators[1].mismatches.size(), 1u);
  const std::vector<RasGroup>& groups = answer.communicators[1].mismatches[0].groups;
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].launched, 0);
  EXPECT_EQ(groups[0].ranks, 1);
  EXPECT_EQ(groups[0].named[0].rank, 7);
  EXPECT_EQ(groups[0].named[0].pid, 483079);
  EXPECT_EQ(groups[1].launched, 6649);
  EXPECT_EQ(groups[1].ranks, 2);
  ASSERT_EQ(groups[1].named.size(), 2u);
  EXPECT_EQ(groups[1].named[1].gpu, 2);
  EXPECT_EQ(groups[1].named[1].host, "172.16.64.210");
  EXPECT_EQ(groups[2].ranks, 29);
  EXPECT_TRUE(groups[2].named.empty());
  EXPECT_TRUE(answer.communicators[2].mismatches.empty());
}

TEST(NcclRas, StuckIsWhatDoesNotMove) {
  const RasAnswer first = read(as_json({7, 6, 7}));
  const auto stuck = stuck_ranks(first, read(as_json({7, 6, 7})));
  ASSERT_EQ(stuck.size(), 1u);
  EXPECT_EQ(stuck[0].communicator, 0x27a079b828ff1a75u);
  EXPECT_EQ(stuck[0].operation, "AllReduce");
  EXPECT_EQ(stuck[0].launched, 6);
  EXPECT_EQ(stuck[0].most, 7);
  EXPECT_EQ(stuck[0].count, 1);
  ASSERT_EQ(stuck[0].ranks.size(), 1u);
  EXPECT_EQ(stuck[0].ranks[0].rank, 1);
  EXPECT_TRUE(stuck_ranks(first, read(as_json({9, 8, 9}))).empty());  // a fast job that outruns the question
  EXPECT_TRUE(stuck_ranks(first, read(as_json({8, 6, 8}))).empty());  // the others still launch
  EXPECT_TRUE(stuck_ranks(first, read(as_json({7, 7, 7}))).empty());
  EXPECT_TRUE(stuck_ranks(read(as_json({7, 7, 7})), first).empty());
}

TEST(NcclRas, StuckByText) {
  const RasAnswer answer = read(as_text("", kMismatch));
  const auto stuck = stuck_ranks(answer, answer);
  ASSERT_EQ(stuck.size(), 1u);
  EXPECT_EQ(stuck[0].ranks[0].rank, 7);
  // Where most are behind, they are counted and not named.
  const RasAnswer most =
      read(as_text("",
                   "#0-0 (01) MISMATCH\n  Communicator ranks have different AllGather operation counts\n"
                   "  30 ranks have launched up to operation 5\n"
                   "  Rank 1 has launched up to operation 6 -- [process information not found]\n\n"));
  const auto behind = stuck_ranks(most, most);
  ASSERT_EQ(behind.size(), 1u);
  EXPECT_EQ(behind[0].count, 30);
  EXPECT_TRUE(behind[0].ranks.empty());
}

TEST(NcclRas, RefusesWhatIsNone) {
  const auto refuses = [](std::string_view text) {
    const auto answer = read_ras_answer(text);
    return !answer && answer.error().code == Code::invalid;
  };
  for (const char* text : {"", "OK\nOK\n", "HTTP/1.1 400 Bad Request\r\n", "{}", "{\"nccl_version\": 5}",
                           "OK\n{\"communicators\": [["})
    EXPECT_TRUE(refuses(text)) << text;
  const std::string json = as_json({7, 6}), text = as_text("", "");
  for (size_t cut = 0; cut + 3 < json.size(); ++cut) EXPECT_TRUE(refuses(json.substr(0, cut))) << cut;
  for (size_t cut = 0; cut < text.find("Warnings"); ++cut) EXPECT_TRUE(refuses(text.substr(0, cut))) << cut;
  std::string wild = json;
  wild.replace(wild.find("\"10.0.0.0\""), 10, "[[[[[[[[[]]]]]]]]]");
  EXPECT_TRUE(refuses(wild));
  EXPECT_TRUE(refuses(std::string(100'000, '[')));
}

}  // namespace
}  // namespace spotter::wire
