// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/report.h"

namespace warpool::daemon {

/// Writes events as text lines to stderr or to a file of bounded size.
class LogReport final : public Report {
 public:
  LogReport(const std::string& path, bool verbose);
  void on_event(const Event& event) override;
};

}  // namespace warpool::daemon
