// investigate: what an agent runs for an incident: a capture of some ranks, and what stands out in it. The
// request (wire/capture_request.h) comes by standard input; the receipts, the findings and the notes go to
// standard output as JSON. The traces are read where they were written, by their owner's rights.
#include <memory>

#include "app/capture/hosts.h"
#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/cli/standard_input.h"
#include "base/text/utf8.h"
#include "capture/capture.h"
#include "client/fleet.h"
#include "client/remote_analysis.h"
#include "diagnose/run.h"
#include "net/loop.h"
#include "read/open.h"
#include "render/list.h"
#include "table/ops.h"
#include "wire/capture_request.h"

namespace spotter::app {
namespace {

Result<int> investigate(const HostOptions& where) {
  TRY_ASSIGN(const std::string text, standard_input());
  TRY_ASSIGN(const wire::CaptureRequest wish, wire::read_capture_request(text));
  TRY_ASSIGN(const Hosts hosts, find_hosts(where));
  net::Loop loop;
  client::Fleet fleet(loop, hosts.addresses, hosts.credentials);
  fleet.begin(wish, [&] {
    if (fleet.is_over()) loop.stop();
  });
  loop.run();
  Table receipts = table::sort(fleet.receipts(), {{"rank"}, {"host"}, {"pid"}});
  Notes notes = std::exchange(receipts.notes, {});

  client::RemoteAnalysis files =
      client::analyze_where_written(fleet.members(), hosts.credentials, {}, diagnose::fact_request());
  for (const auto& [host, error] : files.missing)
    notes.add("not_analysed", Severity::loss,
              fmt::format("the traces of {} were not read: {}", host.shown(), to_printable(error.message)));
  std::vector<Table> tables = {receipts};
  if (!files.elsewhere.empty()) {
    diagnose::Request request;
    request.findings = true;
    request.paths = capture::folder_of(receipts);
    request.elsewhere = std::move(files.elsewhere);
    TRY_ASSIGN(diagnose::Diagnosis diagnosis, diagnose::run({}, std::move(request), read::load));
    notes.merge(std::move(diagnosis.notes));
    tables.push_back(std::move(*diagnosis.findings));
  }
  TRY(print(render::kJson, {tables, notes}));
  return 0;
}

}  // namespace

Command investigate_command() {
  const auto where = std::make_shared<HostOptions>();
  return {
      .name = "investigate",  // without a summary: it is no command for people
      .options = host_options(*where),
      .action = [where]() -> Result<int> { return investigate(*where); },
  };
}

}  // namespace spotter::app
