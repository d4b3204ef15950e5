// What Parley adds to a model: from the start of the command to the request on the wire, one step of an
// agent, and one token of a stream, each beside somebody who does only what must be done. Ratios are of one
// run.
#pragma once

#include <sys/resource.h>

#include <string>
#include <string_view>
#include <vector>

#include "generate.h"
#include "goals.h"

namespace bench::agent_task {

struct Measured {
  std::string what, contender;
  double best = 0, median = 0;  // microseconds
};

// Those of "agent start", "agent step", "agent streams" and "agent markdown" whose name has `task`. In the
// folder for temporary files, and on the loopback interface.
std::vector<Measured> measure(std::string_view task, const std::vector<Document>& documents);

std::string to_markdown(const std::vector<Measured>& all);
std::vector<Goal> goals(const std::vector<Measured>& all);

// ---- The parts

inline constexpr const char* kParley = "Parley";

// Best and median of times. REQUIRES: there are some.
Measured measured(std::string what, std::string contender, std::vector<double> times);
// User and system time.
double microseconds_of(const rusage& usage);
// Ends the program with a sentence unless all is well.
void check(bool good, const char* what);

// From before a process is started to the last byte of its request (start.cc).
inline constexpr const char* kCurl = "the curl command";
inline constexpr const char* kPrompt = "start to request, parley -c -p";
inline constexpr const char* kRun = "start to request, parley run -c, with tools";
void measure_start(std::vector<Measured>& all, const std::string& document);

// What a step takes without model, tool and commit (step.cc).
inline constexpr const char* kMemcpy = "memcpy of the request's body";
std::string step_of(std::size_t log);
inline constexpr std::size_t kLogs[] = {1'000, 10'000, 100'000};
void measure_step(std::vector<Measured>& all, const Document& document);

// Processor time of a token (streams.cc).
inline constexpr const char* kLibcurl = "bare libcurl";
inline constexpr const char* kLoop = "Parley on one event loop";
inline constexpr const char* kPaced = "a token of 200 streams, a token at a time";
inline constexpr const char* kFlood = "a token of 200 streams, as fast as they come";
void measure_streams(std::vector<Measured>& all);

// Processor time of a token of one answer at a terminal, start of the command included (markdown.cc).
inline constexpr const char* kRaw = "the same with --raw";
inline constexpr const char* kMarkdownPaced = "a token of Markdown at a terminal, a token every 2 ms";
inline constexpr const char* kMarkdownFlood = "a token of Markdown at a terminal, as fast as they come";
void measure_markdown(std::vector<Measured>& all);

}  // namespace bench::agent_task
