// serve: traces -> the page over them, until a signal ends it.
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

#include "app/capture/hosts.h"
#include "app/cli/command.h"
#include "app/cli/interruption.h"
#include "app/cli/readers.h"
#include "base/log.h"
#include "base/system/descriptor.h"
#include "base/system/file.h"
#include "base/system/memory.h"
#include "base/text/shell_word.h"
#include "net/http/url.h"
#include "serve/server.h"
#include "serve/token.h"

extern char** environ;

namespace spotter::app {
namespace {

struct Options {
  serve::ServeOptions serve;
  HostOptions hosts;
  std::string token_file, view_token_file;
  net::TlsFiles tls;
  bool opens_browser = true;
};

// What a browser is opened with: a file that sends it on to the address. The address itself has the token,
// and what a program is started with is seen by all users of the machine.
class FirstPage {
 public:
  static Result<FirstPage> make(const std::string& url) {
    const char* const folder = std::getenv("XDG_RUNTIME_DIR");
    std::string path = fmt::format("{}/spotter-serve-XXXXXX.html", folder && *folder ? folder : "/tmp");
    constexpr int kEnding = 5;
    const Descriptor file(::mkstemps(path.data(), kEnding));  // for its user alone
    if (file.fd < 0) return fail(Code::io, "{}: {}", path, errno_text(errno));
    FirstPage page(path);
    const std::string html = fmt::format(
        "<!doctype html><meta charset=\"utf-8\"><title>Spotter</title><meta http-equiv=\"refresh\" "
        "content=\"0; url={}\"><a href=\"{}\">Spotter</a>\n",
        url, url);
    if (::write(file.fd, html.data(), html.size()) != static_cast<ssize_t>(html.size()))
      return fail(Code::io, "{}: {}", path, errno_text(errno));
    return page;
  }
  FirstPage(FirstPage&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  FirstPage& operator=(FirstPage&&) = delete;
  ~FirstPage() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  const std::string& path() const { return path_; }

 private:
  explicit FirstPage(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

bool has_display() {
  const auto is_set = [](const char* name) {
    const char* const value = std::getenv(name);
    return value && *value;
  };
  return is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
}

// Nobody is told if there is none: the address is on standard output.
void open_browser(const std::string& path) {
  std::string program = "xdg-open", place = path;
  char* words[] = {program.data(), place.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", fd == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, program.c_str(), &actions, nullptr, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed) log(Level::info, "no browser was opened: {}: {}", program, errno_text(failed));
}

// The agents to be shown: those that are named, or where there are no traces to show, this host's.
Result<serve::AgentsOptions> agents_of(const Options& options) {
  if (!options.serve.roots.empty() && options.hosts.is_local() && options.hosts.socket.empty())
    return serve::AgentsOptions{};
  TRY_ASSIGN(Hosts hosts, find_hosts(options.hosts));
  return serve::AgentsOptions{std::move(hosts.addresses), std::move(hosts.credentials),
                              shell_words(words_of(options.hosts)), std::move(hosts.job)};
}

Result<int> serve_traces(Options options) {
  TRY_ASSIGN(options.serve.agents, agents_of(options));
  keep_freed_memory();
  net::allow_many_descriptors();
  if (options.token_file.empty()) {
    options.serve.token = serve::random_token();
  } else {
    TRY_ASSIGN(options.serve.token, serve::read_token(options.token_file));
  }
  if (!options.view_token_file.empty()) {
    TRY_ASSIGN(options.serve.view_token, serve::read_token(options.view_token_file));
  }
  if (!options.tls.certificate.empty()) {
    TRY_ASSIGN(options.serve.tls, net::Tls::server(options.tls));
  }
  net::Loop loop;
  loop.on_signals({SIGTERM, SIGINT}, [&](int) { loop.stop(); });
  std::signal(SIGCHLD, SIG_IGN);  // the browser's, which nobody waits for
  TRY_ASSIGN(const std::unique_ptr<serve::Server> server, serve::Server::open(loop, options.serve));
  std::printf("%s\n", server->url().c_str());
  if (const std::string view = server->view_url(); !view.empty())
    std::printf("role view: %s\n", view.c_str());
  std::fflush(stdout);
  std::optional<FirstPage> first_page;
  if (options.opens_browser && has_display()) {
    if (auto made = FirstPage::make(server->url())) {
      first_page.emplace(std::move(*made));
      open_browser(first_page->path());
    } else {
      log(Level::info, "no browser was opened: {}", made.error().message);
    }
  }
  loop.run();
  end_at_once_when_interrupted();  // by a second signal, where work takes long to be given up
  return 0;
}

// "/a/b": with a slash before and none behind.
Result<std::string> parse_base_path(const std::string& word) {
  constexpr std::string_view kOthers = "/-._~";
  std::string path = word;
  while (!path.empty() && path.back() == '/') path.pop_back();
  const auto is_allowed = [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kOthers.find(c) != kOthers.npos;
  };
  for (const char c : path)
    if (!is_allowed(c)) return fail(Code::invalid, "\"{}\" has more than letters, digits and /-._~", word);
  if ((!path.empty() && !path.starts_with('/')) || path.find("//") != path.npos)
    return fail(Code::invalid, "\"{}\" is no path; write it as /user/me/spotter", word);
  return path;
}

// A page that is handed traces: what comes over a network in the clear may be anybody's.
Result<std::string> parse_perfetto_url(const std::string& word) {
  TRY_ASSIGN(const net::Url url, net::parse_url(word));
  const bool is_here = url.host == "localhost" || url.host == "127.0.0.1" || url.host == "::1";
  if (url.is_plain && !is_here)
    return fail(Code::invalid, "\"{}\" is neither https://… nor http:// of this host", word);
  if (url.path != "/")
    return fail(Code::invalid, "\"{}\" is more than an address: Perfetto's page is at its root", word);
  return word;
}

std::vector<Option> serve_options(Options& o) {
  std::vector<Option> all = {
      {.names = {"--port"},
       .value = "N",
       .help = "port to listen on; 0 is any free one (default 0)",
       .read = number(o.serve.port, 0, UINT16_MAX)},
      {.names = {"--address"},
       .value = "IP",
       .help =
           "address to listen on (default 127.0.0.1); one that others reach needs --certificate and --key",
       .read = keep(o.serve.address)},
      {.names = {"--certificate"},
       .value = "FILE",
       .help = "speak TLS with this certificate (PEM, with those between it and its authority)",
       .read = keep(o.tls.certificate),
       .offer = offer_files(),
       .needs = {"--key"}},
      {.names = {"--key"},
       .value = "FILE",
       .help = "key of the certificate (PEM)",
       .read = keep(o.tls.key),
       .offer = offer_files(),
       .needs = {"--certificate"}},
      {.names = {"--token-file"},
       .value = "FILE",
       .help =
           "take the access token from this file, which only its user may read; by default it is a new one at each start",
       .read = keep(o.token_file),
       .offer = offer_files()},
      {.names = {"--view-token-file"},
       .value = "FILE",
       .help =
           "a second token, in a file as that of --token-file: who has it has the role view, which sees everything and "
           "changes nothing. Its address is printed in a second line",
       .read = keep(o.view_token_file),
       .offer = offer_files()},
      {.names = {"--base-path"},
       .value = "/PATH",
       .help = "serve everything below this path, for a proxy that passes it on",
       .read = parsed(o.serve.base_path, parse_base_path)},
      {.names = {"--allow-host"},
       .value = "NAME",
       .help =
           "also answer requests for this host, by which a proxy asks; may be repeated. Without it: IP addresses, "
           "names without a dot and this host's own",
       .read = keep_each(o.serve.other_names),
       .repeatable = true},
      {.names = {"--perfetto-url"},
       .value = "URL",
       .help =
           "open traces in this copy of Perfetto's page rather than in https://ui.perfetto.dev, where a network is closed; "
           "it is served at the root of its address",
       .read = parsed(o.serve.perfetto_url, parse_perfetto_url)},
      {.names = {"--no-open"},
       .help = "do not open a browser where there is a display",
       .read = set(o.opens_browser, false)},
  };
  for (Option& option : host_options(o.hosts)) all.push_back(std::move(option));
  return all;
}

}  // namespace

Command serve_command() {
  const auto options = std::make_shared<Options>();
  return {
      .name = "serve",
      .summary = "Show traces, and what agents measure, as a page in the browser.",
      .arguments =
          {{.name = "PATH",
            .help =
                "folders; each folder in them with traces is a job, also one that comes later. Or trace files. "
                "Without any, this host's agent is shown, or those that are named by the options",
            .read = keep_each(options->serve.roots),
            .offer = offer_files(),
            .required = false,
            .many = true}},
      .options = serve_options(*options),
      .footer =
          "Prints the address of the page, which contains the access token, and serves until it is interrupted.\n"
          "From another host: ssh -L 8080:127.0.0.1:PORT HOST, then the address with port 8080.\n"
          "Examples: spotter serve runs/\n          spotter serve --host 'gpu[01-16]'",
      .action = [options]() -> Result<int> { return serve_traces(*options); },
  };
}

}  // namespace spotter::app
