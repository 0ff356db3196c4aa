// TableOrder: a table of a job. Those of one part of a job are made in one reading of its files, and with the
// first of a whole job come the findings and what an overview shows: reading is most of the time.
#pragma once
#include <functional>

#include "diagnose/run.h"
#include "serve/desk.h"
#include "serve/job_list.h"
#include "serve/table_ask.h"

namespace spotter::serve {

class TableOrder final : public Order {
 public:
  // Any thread; what reading the whole job told.
  using Tell = std::function<void(const JobPtr&, Learned)>;

  // `is_first`: nothing was learned of the job yet.
  TableOrder(JobPtr job, TableAsk ask, Form form, bool is_first, Tell tell);
  // Of no table: for who wants to know what the job is.
  static std::shared_ptr<TableOrder> to_learn(JobPtr job, Form form, Tell tell);

  std::vector<Made> make(std::span<const std::shared_ptr<Order>> all,
                         const std::atomic<bool>& cancelled) override;

 private:
  struct Evidence;
  TableOrder(std::string of_key, JobPtr job, TableAsk ask, Form form, bool is_first, bool is_table,
             Tell tell);
  std::vector<Made> make_together(std::span<const TableOrder* const> orders,
                                  const std::atomic<bool>& cancelled) const;
  Made make_alone(const TableOrder& order, const std::atomic<bool>& cancelled) const;
  Result<diagnose::Diagnosis> run(const analyze::RunRequest& part, bool findings,
                                  std::optional<double> sensitivity, const std::atomic<bool>& cancelled,
                                  Evidence& evidence) const;

  const JobPtr job_;
  const TableAsk ask_;
  const Form form_;
  const bool is_first_, is_table_;
  const Tell tell_;
};

// For runs on these threads beside others like them.
void share_machine(analyze::RunRequest& run);
inline constexpr int kAtOnce = 2;

}  // namespace spotter::serve
