// SPDX-License-Identifier: Apache-2.0
#include "daemon/log_report.h"

#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace warpool::daemon {
namespace {

/// Two files of this size at most: a log must not fill a disk.
constexpr std::size_t kLogBytesMax = 1024 * 1024;

spdlog::level::level_enum level_of(EventKind kind) {
  switch (kind) {
    case EventKind::kSessionOpened:
    case EventKind::kSessionClosed:
    case EventKind::kArrayPublished:
    case EventKind::kArrayRemoved:
      return spdlog::level::debug;
    case EventKind::kSessionRefused:
    case EventKind::kProtocolViolation:
    case EventKind::kMemoryRefused:
    case EventKind::kKeeperLost:
      return spdlog::level::warn;
    case EventKind::kArraysLost:
    case EventKind::kDegraded:
      return spdlog::level::err;
    default:
      return spdlog::level::info;
  }
}

}  // namespace

LogReport::LogReport(const std::string& path, bool verbose) {
  std::shared_ptr<spdlog::logger> logger;
  try {
    if (!path.empty()) logger = spdlog::rotating_logger_st("warpoold", path, kLogBytesMax, 1);
  } catch (const spdlog::spdlog_ex& error) {
    std::fprintf(stderr, "warpoold: cannot write the log %s (%s); logging to stderr\n",
                 path.c_str(), error.what());
  }
  if (logger == nullptr) logger = spdlog::stderr_logger_st("warpoold");
  logger->set_level(verbose ? spdlog::level::debug : spdlog::level::info);
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(logger);
}

void LogReport::on_event(const Event& event) {
  const spdlog::level::level_enum level = level_of(event.kind);
  if (!spdlog::should_log(level)) return;
  std::string line = event_name(event.kind);
  if (event.session != 0) line += fmt::format(" (session {})", event.session);
  if (event.value != 0) line += fmt::format(" {}", event.value);
  if (!event.detail.empty()) line += fmt::format(": {}", event.detail.c_str());
  spdlog::log(level, "{}", line);
}

}  // namespace warpool::daemon
