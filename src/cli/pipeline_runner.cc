// SPDX-License-Identifier: Apache-2.0
#include "cli/pipeline_runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <memory>
#include <optional>

#include "cli/failure.h"
#include "cli/line_prefixer.h"
#include "cli/pending_output.h"
#include "cli/process.h"
#include "cli/signals.h"
#include "cli/system_text.h"

namespace warpool::cli {
namespace {

constexpr std::array kStageColours = {Colour::kCyan,   Colour::kMagenta, Colour::kGreen,
                                      Colour::kYellow, Colour::kBlue,    Colour::kRed};
constexpr size_t kReadSize = 64 * 1024;
/// How often the last bytes of a stage are asked for once everybody in its group was killed.
constexpr int kLastReadStepMs = 10;

/// One output of a stage on its way to one of ours.
struct Stream {
  Stream(os::Fd pipe_in, const std::string& prefix, PendingOutput& target_in)
      : pipe(std::move(pipe_in)), lines(prefix), target(target_in) {}
  os::Fd pipe;
  LinePrefixer lines;
  PendingOutput& target;

  bool open() const { return pipe.valid(); }

  void close() {
    lines.finish(target.buffer());
    pipe.reset();
  }

  /// Reads once. Closes itself at the end of the stream, and with `last` also when nothing is there to read.
  void read_some(bool last) {
    std::array<char, kReadSize> bytes;
    const ssize_t got = read(pipe.get(), bytes.data(), bytes.size());
    if (got > 0) {
      lines.feed({bytes.data(), static_cast<size_t>(got)}, target.buffer());
    } else if (got == 0 || last || (errno != EAGAIN && errno != EINTR)) {
      close();
    }
  }
};

/**
 * A started stage. Its first process decides how it ended. It stays a zombie until its outputs are closed: as long as it is not reaped, its
 * process group cannot belong to anybody else, and what it left running in there can be ended safely.
 */
struct Child {
  pid_t pid = -1;
  std::vector<Stream> streams;
  bool leader_ended = false;
  std::optional<int64_t> drain_deadline_ms;
  bool killed_rest =
      false;  ///< whoever still holds the outputs has left the group and is not waited for
};

class Runner {
 public:
  Runner(const Pipeline& pipeline, const RunnerOptions& options, const Output& out,
         const Output& err)
      : pipeline_(pipeline),
        options_(options),
        out_style_(out),
        err_style_(err),
        plan_(pipeline, options.grace_ms),
        out_(out.fd()),
        err_(err.fd()),
        children_(pipeline.stages.size()),
        report_{std::vector<StageReport>(pipeline.stages.size()), EndReason::kNone, 0, 0},
        watched_(signal_set(SIGINT, SIGTERM, SIGHUP, SIGCHLD)),
        blocked_(watched_),
        signals_(signalfd(-1, &watched_, SFD_CLOEXEC | SFD_NONBLOCK)),
        null_(open("/dev/null", O_RDONLY | O_CLOEXEC)) {
    for (const Stage& stage : pipeline.stages)
      name_width_ = std::max(name_width_, stage.name.size());
  }

  PipelineReport run() {
    const int64_t begin_ms = monotonic_ms();
    perform(plan_.begin(begin_ms));
    carry_out();
    while (!plan_.done() || !drained()) {
      wait_for_something();
      take_signals();
      look_after_children();
      perform(plan_.tick(monotonic_ms()));
      flush();
      carry_out();
    }
    return finish(begin_ms);
  }

 private:
  bool drained() const {
    return (out_.empty() || out_.broken()) && (err_.empty() || err_.broken());
  }

  /// Takes note of what has to be done. A stage that cannot be started leads to more, so a queue
  /// and no recursion.
  void perform(const std::vector<PlanAction>& actions) {
    actions_.insert(actions_.end(), actions.begin(), actions.end());
  }

  void carry_out() {
    while (!actions_.empty()) {
      const PlanAction action = actions_.front();
      actions_.pop_front();
      switch (action.kind) {
        case PlanAction::Kind::kStart:
          start(action.stage);
          break;
        case PlanAction::Kind::kTerminate:
          signal_group(action.stage, SIGTERM);
          break;
        case PlanAction::Kind::kKill:
          signal_group(action.stage, SIGKILL);
          break;
      }
    }
  }

  void signal_group(size_t stage, int signal_number) {
    if (children_[stage].pid > 0) kill(-children_[stage].pid, signal_number);
  }

  std::string prefix_of(size_t stage, const Output& style) const {
    const std::string& name = pipeline_.stages[stage].name;
    const std::string padding(name_width_ - name.size(), ' ');
    return style.paint(kStageColours[stage % kStageColours.size()], name + padding + " |") + " ";
  }

  void say(size_t stage, const std::string& text) {
    err_.buffer() += prefix_of(stage, err_style_) + err_style_.paint(Colour::kBold, text) + "\n";
  }

  void start(size_t index) {
    try {
      start_with_pipes(index, make_pipe(), make_pipe());
    } catch (const Failure& failure) {
      // No descriptors left: the stages that run must still be ended in order, so this is a stage that could not start.
      not_started(index, failure.what(), ENFILE);
    }
  }

  void start_with_pipes(size_t index, Pipe out, Pipe err) {
    const Stage& stage = pipeline_.stages[index];
    LaunchOptions launch_options;
    launch_options.command = stage.command;
    launch_options.env = stage.env;
    launch_options.env["WARPOOL_SOCKET"] = options_.socket_path;
    launch_options.env["WARPOOL_RUN"] = options_.run_ids[index];
    launch_options.env["WARPOOL_LABEL"] = stage.label;
    launch_options.dir = stage.dir;
    launch_options.group = Group::kOwn;
    launch_options.stdin_fd = null_.get();
    launch_options.stdout_fd = out.write_end.get();
    launch_options.stderr_fd = err.write_end.get();
    launch_options.signal_mask = blocked_.before();
    const Launched launched = launch(launch_options);
    if (!launched.running()) {
      not_started(index, fmt::format("{}: {}", launched.what, error_text(launched.error)),
                  launched.error);
      return;
    }
    Child& child = children_[index];
    child.pid = launched.pid;
    add_stream(child, std::move(out.read_end), index, out_style_, out_);
    add_stream(child, std::move(err.read_end), index, err_style_, err_);
  }

  void add_stream(Child& child, os::Fd pipe, size_t stage, const Output& style,
                  PendingOutput& target) {
    fcntl(pipe.get(), F_SETFL, O_NONBLOCK);
    child.streams.emplace_back(std::move(pipe), prefix_of(stage, style), target);
  }

  void not_started(size_t index, const std::string& why, int error) {
    StageReport& report = report_.stages[index];
    report.trouble = "cannot start: " + why;
    say(index, report.trouble);
    ProcessEnd end;
    end.could_not_start = true;
    end.exit_status = exit_code_of_launch_error(error);
    stage_ended(index, end);
  }

  void stage_ended(size_t index, ProcessEnd end) {
    const bool was_ending = plan_.reason() != EndReason::kNone;
    const std::vector<PlanAction> actions = plan_.ended(index, end, monotonic_ms());
    if (!was_ending && plan_.reason() == EndReason::kStageFailed)
      say(index, fmt::format("{}; ending the other stages", describe_end(end)));
    perform(actions);
  }

  static std::string describe_end(const ProcessEnd& end) {
    if (end.could_not_start) return "could not be started";
    if (end.signal_number != 0)
      return fmt::format("ended by signal {} ({})", end.signal_number,
                         signal_text(end.signal_number));
    return fmt::format("ended with exit status {}", end.exit_status);
  }

  void wait_for_something() {
    std::vector<pollfd> entries{{signals_.get(), POLLIN, 0}};
    for (Child& child : children_) {
      for (const Stream& stream : child.streams) {
        if (stream.open() && !stream.target.full())
          entries.push_back({stream.pipe.get(), POLLIN, 0});
      }
    }
    for (const PendingOutput* output : {&out_, &err_}) {
      if (!output->empty() && !output->broken()) entries.push_back({output->fd(), POLLOUT, 0});
    }
    poll(entries.data(), entries.size(), poll_timeout());
  }

  int poll_timeout() const {
    std::optional<int64_t> next = plan_.deadline_ms();
    for (const Child& child : children_) {
      if (child.killed_rest) return kLastReadStepMs;
      if (child.drain_deadline_ms)
        next = std::min(next.value_or(*child.drain_deadline_ms), *child.drain_deadline_ms);
    }
    if (!next) return -1;
    return static_cast<int>(std::clamp<int64_t>(*next - monotonic_ms(), 0, 60'000));
  }

  void take_signals() {
    signalfd_siginfo info{};
    while (read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      if (info.ssi_signo == SIGCHLD) continue;
      const EndReason reason =
          info.ssi_signo == SIGINT ? EndReason::kInterrupted : EndReason::kTerminated;
      // All stages have ended and somebody is tired of waiting for the reader of their output.
      if (plan_.done()) abandon_output();
      perform(plan_.end_all(reason, monotonic_ms()));
    }
  }

  void abandon_output() {
    out_.abandon();
    err_.abandon();
  }

  void look_after_children() {
    for (size_t i = 0; i < children_.size(); ++i) {
      Child& child = children_[i];
      for (Stream& stream : child.streams) {
        if (stream.open() && !stream.target.full()) stream.read_some(child.killed_rest);
      }
      if (child.pid > 0) settle(i);
    }
  }

  /// Follows a child from the end of its first process to the end of its output, then reaps it.
  void settle(size_t index) {
    Child& child = children_[index];
    if (!child.leader_ended) {
      siginfo_t info{};
      if (waitid(P_PID, static_cast<id_t>(child.pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
          info.si_pid == 0)
        return;
      child.leader_ended = true;
    }
    const bool closed = std::none_of(child.streams.begin(), child.streams.end(),
                                     [](const Stream& s) { return s.open(); });
    const int64_t now_ms = monotonic_ms();
    if (!closed && !child.drain_deadline_ms) {
      // Output may still be in the pipe, or a process that the stage left behind holds it open.
      child.drain_deadline_ms = now_ms + options_.grace_ms;
      signal_group(index, SIGTERM);
      return;
    }
    if (closed) {
      reap(index);
    } else if (now_ms >= *child.drain_deadline_ms && !child.killed_rest) {
      signal_group(index, SIGKILL);
      child.killed_rest = true;
    }
  }

  void reap(size_t index) {
    Child& child = children_[index];
    int status = 0;
    rusage usage{};
    while (wait4(child.pid, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    for (Stream& stream : child.streams) {
      if (stream.open()) stream.close();
    }
    child.pid = -1;
    child.streams.clear();
    child.drain_deadline_ms.reset();
    report_.stages[index].peak_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
    ProcessEnd end;
    if (WIFSIGNALED(status)) {
      end.signal_number = WTERMSIG(status);
    } else {
      end.exit_status = WEXITSTATUS(status);
    }
    stage_ended(index, end);
  }

  void flush() {
    out_.flush();
    err_.flush();
    // Nobody reads the output any more: going on would be work for nobody.
    if (out_.broken() && plan_.reason() == EndReason::kNone)
      perform(plan_.end_all(EndReason::kOutputClosed, monotonic_ms()));
  }

  PipelineReport finish(int64_t begin_ms) {
    for (size_t i = 0; i < report_.stages.size(); ++i) {
      StageReport& stage = report_.stages[i];
      stage.state = plan_.state(i);
      stage.end = plan_.end(i);
      stage.elapsed_ms = plan_.ended_ms(i) - plan_.started_ms(i);
    }
    report_.reason = plan_.reason();
    report_.exit_code = plan_.exit_code();
    report_.elapsed_ms = monotonic_ms() - begin_ms;
    return std::move(report_);
  }

  const Pipeline& pipeline_;
  const RunnerOptions& options_;
  const Output& out_style_;
  const Output& err_style_;
  PipelinePlan plan_;
  PendingOutput out_;
  PendingOutput err_;
  std::deque<PlanAction> actions_;
  std::vector<Child> children_;
  PipelineReport report_;
  sigset_t watched_;
  BlockedSignals blocked_;
  os::Fd signals_;
  os::Fd null_;
  size_t name_width_ = 0;
};

}  // namespace

PipelineReport run_pipeline(const Pipeline& pipeline, const RunnerOptions& options,
                            const Output& out, const Output& err) {
  return Runner(pipeline, options, out, err).run();
}

}  // namespace warpool::cli
