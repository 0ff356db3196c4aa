#include "collect/steps/torch_step.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "base/system/file.h"
#include "base/system/file_inside.h"
#include "base/text/utf8.h"
#include "collect/steps/elf_symbol.h"

namespace spotter::collect {
namespace {

constexpr std::string_view kLibrary = "/libtorch_cpu.so",
                           kStep = "_ZN5torch8autograd8profiler12profilerStepEv";
constexpr size_t kMostMapBytes = size_t{32} << 20;

// The path of the library's line in the map; empty: the process has not loaded it.
std::string_view path_in(std::string_view maps) {
  for (size_t end = maps.find(kLibrary); end != maps.npos; end = maps.find(kLibrary, end + 1)) {
    const size_t behind = end + kLibrary.size();
    if (behind < maps.size() && maps[behind] != '\n') continue;  // another library, or one that was removed
    const size_t line = maps.rfind('\n', end) + 1, begin = maps.find('/', line);
    return maps.substr(begin, behind - begin);
  }
  return {};
}

// As the process sees it, who may have a root of its own. The map has paths without links.
Result<Descriptor> open_in_root(const std::string& folder, std::string_view path) {
  const auto refused = [&](int error) {
    return fail(error == EACCES ? Code::denied : Code::io, "{}: {}", to_printable(path), errno_text(error));
  };
  const Descriptor root(::open((folder + "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (root.fd < 0) return refused(errno);
  const Descriptor found = find_inside(root.fd, std::string(path));
  if (found.fd < 0) return refused(errno);
  struct stat about{};
  if (fstat(found.fd, &about) != 0 || !S_ISREG(about.st_mode))
    return fail(Code::invalid, "{} is no plain file", to_printable(path));
  Descriptor file = open_for_reading(found);
  if (file.fd < 0) return refused(errno);
  return file;
}

Result<TorchStep> find_in(const std::string& folder) {
  TRY_ASSIGN(const std::string maps, read_small_file(folder + "/maps", kMostMapBytes));
  const std::string_view path = path_in(maps);
  if (path.empty()) return fail(Code::not_found, "it has not loaded PyTorch");
  TRY_ASSIGN(Descriptor library, open_in_root(folder, path));
  auto step = torch_step_of(std::move(library));
  if (!step) return within(step.error(), to_printable(path));
  return step;
}

}  // namespace

Result<TorchStep> torch_step_of(Descriptor library) {
  struct stat about{};
  if (fstat(library.fd, &about) != 0 || !S_ISREG(about.st_mode))
    return fail(Code::invalid, "it is no plain file");
  TRY_ASSIGN(const auto offset, find_function(library.fd, kStep));
  if (!offset) return fail(Code::unsupported, "this PyTorch does not tell when a step ends");
  return TorchStep{std::move(library), *offset};
}

Result<TorchStep> find_torch_step(const Host& host, i64 pid) {
  auto step = find_in(fmt::format("{}/{}", host.proc, pid));
  if (!step) return within(step.error(), fmt::format("process {}", pid));
  return step;
}

}  // namespace spotter::collect
