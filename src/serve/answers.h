// The answers about jobs that are made by workers: of each its order.
#pragma once
#include <memory>
#include <optional>

#include "diagnose/diff.h"
#include "export/export_job.h"
#include "serve/desk.h"
#include "serve/job.h"
#include "serve/table_ask.h"
#include "wire/target.h"

namespace spotter::serve {

using OrderPtr = std::shared_ptr<Order>;

OrderPtr event_order(const JobPtr& job, const JobFile& file, EventId event, Form form);
// Errors: of all of these: invalid (parameters).
Result<OrderPtr> search_order(const JobPtr& job, const wire::Target& target, Form form);
Result<OrderPtr> export_order(const JobPtr& job, const wire::Target& target);
Result<OrderPtr> report_order(const JobPtr& job, const wire::Target& target);
Result<OrderPtr> diff_order(const JobPtr& before, const JobPtr& after, const wire::Target& target, Form form);

}  // namespace spotter::serve
