// Every kind of notifier, in the order users see, and how one is made of what a configuration says.
#pragma once
#include <memory>
#include <span>
#include <string>

#include "base/settings.h"
#include "notify/notifier.h"
#include "notify/redact.h"

namespace spotter::notify {

// One on a line, so that a new one is a line.
// clang-format off
#define SPOTTER_NOTIFIERS \
  kSlack, \
  kPagerDuty, \
  kAlertmanager, \
  kWebhook, \
  kOtlp, \
  kFile
// clang-format on
extern const NotifierKind SPOTTER_NOTIFIERS;

std::span<const NotifierKind* const> all_notifiers();
const NotifierKind* find_notifier(std::string_view name);  // nullptr if there is none
std::span<const Setting> settings_of_all_notifiers();      // beside those of its kind

// Opens nothing. Errors: invalid (no such kind or setting, or a value that cannot be), with the setting.
Result<void> check(const std::string& kind, const Settings& settings);
std::string name_of(const std::string& kind, const Settings& settings);  // in the status and the log
// Of what check() passes: what is to be taken out of an incident before the notifier gets it.
Redaction redaction_of(const Settings& settings);
// The least severity that it is told of.
respond::Urgency least_of(const Settings& settings);
// Errors: those of check(); denied (a file of a secret that others may read), not_found, io.
Result<std::unique_ptr<Notifier>> open_notifier(const std::string& kind, Settings settings,
                                                const Surroundings& surroundings);

}  // namespace spotter::notify
