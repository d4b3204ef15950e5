// The answers of providers are in tests/corpus/failures; here is what no file can hold.
#include "parley/dialect/failure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/planted_secret_testing.h"
#include "parley/base/text.h"

namespace parley {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr std::int64_t kNow = 784'111'777'000;  // Sun, 06 Nov 1994 08:49:37 GMT

std::string tokens_line(const Overflow& overflow) {
  if (overflow == Overflow()) return {};
  std::string out = "tokens";
  const auto put = [&](std::string_view name, const std::optional<std::uint64_t>& count) {
    if (count) out += " " + std::string(name) + " " + std::to_string(*count);
  };
  put("limit", overflow.limit);
  put("prompt", overflow.prompt);
  put("output", overflow.output);
  put("excess", overflow.excess);
  return out + "\n";
}

std::string to_lines(const Failure& failure) {
  std::string out =
      "kind " + std::string(to_string(failure.kind)) + (failure.retryable ? " retry" : "") + "\n";
  if (failure.wait) out += "wait " + std::to_string(failure.wait->count()) + "\n";
  if (!failure.code.empty()) out += "code " + failure.code.str() + "\n";
  if (!failure.request_id.empty()) out += "request " + failure.request_id.str() + "\n";
  out += tokens_line(failure.overflow);
  return out + "message " + failure.message.str() + "\n";
}

// One answer of a file: README.md of tests/corpus describes the format.
struct Answer {
  std::size_t line = 0;
  std::string dialect;
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body, expected;

  Failure failure() const {
    std::vector<HeaderField> fields;
    for (const auto& [name, value] : headers) fields.push_back({name, value});
    return failure_of(named(dialect), status, fields, body, kNow);
  }

  // Not all dialects can be read and written yet; all have a name.
  static Dialect named(std::string_view name) {
    for (int i = 1; i <= static_cast<int>(Dialect::ShareGPT); ++i) {
      if (to_string(static_cast<Dialect>(i)) == name) return static_cast<Dialect>(i);
    }
    ADD_FAILURE() << "there is no dialect " << name;
    return Dialect::Parley;
  }
};

std::vector<Answer> answers_in(const fs::path& path) {
  std::vector<Answer> answers;
  std::ifstream file(path, std::ios::binary);
  bool expects = false;
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    if (line.starts_with("answer ")) {
      std::istringstream words(line.substr(7));
      answers.emplace_back().line = number;
      words >> answers.back().dialect >> answers.back().status;
      expects = false;
    } else if (answers.empty()) {
      ADD_FAILURE() << path << ":" << number << ": a file starts with an answer";
    } else if (line == "----") {
      expects = true;
    } else if (expects) {
      answers.back().expected += line + "\n";
    } else if (line.starts_with("< ")) {
      const std::size_t colon = line.find(": ");
      answers.back().headers.emplace_back(line.substr(2, colon - 2), line.substr(colon + 2));
    } else {
      answers.back().body += line;
    }
  }
  return answers;
}

std::vector<fs::path> files() {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(fs::path(PARLEY_SOURCE_DIR) / "tests/corpus/failures")) {
    if (entry.path().extension() == ".answers") out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

class FailureCorpus : public ::testing::TestWithParam<fs::path> {};

TEST_P(FailureCorpus, MeansWhatItSays) {
  const std::vector<Answer> answers = answers_in(GetParam());
  ASSERT_FALSE(answers.empty());
  for (const Answer& answer : answers) {
    EXPECT_EQ(to_lines(answer.failure()), answer.expected) << GetParam().string() << ":" << answer.line;
  }
}

INSTANTIATE_TEST_SUITE_P(Answers, FailureCorpus, ::testing::ValuesIn(files()),
                         [](const auto& file) { return file.param.stem().string(); });

Failure failure_with(std::string_view name, std::string_view value) {
  const HeaderField field{name, value};
  return failure_of(Dialect::OpenAI, 429, {&field, 1}, "", kNow);
}

// F1
TEST(Failure, IsDefinedForEveryStatusAndBody) {
  for (int status = 0; status < 1000; ++status) {
    for (const std::string_view body : {"", "null", "{}", "[]", "[[]]", R"({"error":null})", R"({"error":7})",
                                        R"({"error":{"message":null,"code":{}}})", "{", "\xff\xfe"}) {
      const Failure failure = failure_of(Dialect::Gemini, status, {}, body, kNow);
      EXPECT_FALSE(failure.message.empty()) << status << body;
      EXPECT_EQ(failure.retryable, is_retryable(failure.kind));
    }
  }
}

// F1
TEST(Failure, ReadsBodiesUpToItsLimits) {
  const auto kind = [](const std::string& body) {
    return failure_of(Dialect::OpenAI, 400, {}, body, kNow).kind;
  };
  const std::string error = R"({"error":{"code":"insufficient_quota"},"x":")";
  const std::size_t most = 1024 * 1024;
  const auto of_size = [&](std::size_t size) {
    return error + std::string(size - error.size() - 2, 'x') + "\"}";
  };
  EXPECT_EQ(kind(of_size(most - 1)), FailureKind::Billing);
  EXPECT_EQ(kind(of_size(most)), FailureKind::Billing);
  EXPECT_EQ(kind(of_size(most + 1)), FailureKind::InvalidRequest);

  const auto of_depth = [](std::size_t depth) {
    return R"({"code":"insufficient_quota","x":)" + std::string(depth - 1, '[') +
           std::string(depth - 1, ']') + "}";
  };
  EXPECT_EQ(kind(of_depth(63)), FailureKind::Billing);
  EXPECT_EQ(kind(of_depth(64)), FailureKind::Billing);
  EXPECT_EQ(kind(of_depth(65)), FailureKind::InvalidRequest);
}

// F2
TEST(Failure, LetsTheProviderDecideWhetherToRetry) {
  EXPECT_TRUE(failure_with("X-Should-Retry", "true").retryable);
  EXPECT_FALSE(failure_with("x-should-retry", "false").retryable);
  EXPECT_TRUE(failure_with("x-should-retry", "perhaps").retryable);
}

// F3
TEST(Failure, ShowsLongTextsShort) {
  for (const std::size_t size : {511U, 512U, 513U, 65'536U, 65'537U, 900'000U, 3'000'000U}) {
    for (const std::string_view frame : {R"({"error":{"message":")", ""}) {
      std::string body(frame);
      while (body.size() < frame.size() + size) body += "\u00e9";
      if (!frame.empty()) body += "\"}}";
      const Failure failure = failure_of(Dialect::OpenAI, 500, {}, body, kNow);
      EXPECT_LE(failure.message.size(), kFailureTextBytes) << size;
      EXPECT_TRUE(is_utf8(failure.message));
    }
  }
  const std::string word(2000, 'w');
  const Failure failure = failure_of(Dialect::OpenAI, 500, {},
                                     R"({"code":")" + word + R"(","request_id":")" + word + "\"}", kNow);
  EXPECT_LE(failure.code.size(), kFailureTextBytes);
  EXPECT_LE(failure.request_id.size(), kFailureTextBytes);
}

// F3: wherever a long text is cut, no part of a key is shown.
TEST(Failure, ShowsNoSecret) {
  const std::string key = planted_secret();
  const std::string half = key.substr(0, key.size() / 2);
  std::vector<std::size_t> places = {0, 200, 300, 450, 500};
  for (const std::size_t cut : {16'384U, 32'768U, 65'536U}) {
    for (std::size_t before = cut - 60; before < cut + 10; ++before) places.push_back(before);
  }
  for (const std::size_t before : places) {
    const std::string body = std::string(before, '-') + " " + key + std::string(100, '-');
    for (const std::string& answer :
         {body, R"({"error":{"message":")" + body + R"(","code":")" + key + "\"}}"}) {
      const Failure failure = failure_of(Dialect::OpenAI, 401, {}, answer, kNow);
      EXPECT_EQ(failure.message.view().find(half), std::string_view::npos) << before;
      EXPECT_EQ(failure.code.view().find(half), std::string_view::npos) << before;
    }
  }
}

// F4
TEST(Failure, TellsHowLongToWait) {
  const auto wait = [](std::string_view name, std::string_view value) {
    return failure_with(name, value).wait.value_or(milliseconds(-1)).count();
  };
  EXPECT_EQ(wait("retry-after-ms", "250"), 250);
  EXPECT_EQ(wait("retry-after-ms", "0.2"), 1);  // never too early
  EXPECT_EQ(wait("Retry-After", "7"), 7000);
  EXPECT_EQ(wait("retry-after", "1.5"), 1500);
  EXPECT_EQ(wait("retry-after", "2147483.647"), 2'147'483'647);
  for (const std::string_view odd :
       {"2147483.648", "1e9", "0", "-1", "", "inf", "nan", "7 s", "soon", "99999999999999999999"}) {
    EXPECT_EQ(wait("retry-after", odd), -1) << odd;
  }
}

// F4
TEST(Failure, WaitsForDatesInAllSpellings) {
  const auto wait = [](std::string_view date) {
    return failure_with("retry-after", date).wait.value_or(milliseconds(-1)).count();
  };
  EXPECT_EQ(wait("Sun, 06 Nov 1994 08:50:37 GMT"), 60'000);
  EXPECT_EQ(wait("Sun Nov  6 08:50:37 1994"), 60'000);
  EXPECT_EQ(wait("Wed, 09 Nov 1994 08:49:37 GMT"), 3 * 86'400'000);
  for (const std::string_view odd :
       {"Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:36 GMT", "Sun, 31 Feb 2000 08:49:37 GMT",
        "Sun, 06 Nov 08:50:37 GMT", "Sun, 06 Now 1994 08:50:37 GMT", "Sun, 06 Nov 1994 24:50:37 GMT",
        "Sun, 06 Nov 67530 08:50:37 GMT", "Sun, 06 Nov 1994"}) {
    EXPECT_EQ(wait(odd), -1) << odd;
  }
  const HeaderField field{"retry-after", "Sunday, 15-Nov-26 08:50:37 GMT"};
  constexpr std::int64_t kLater = 1'794'732'577'000;  // 2026-11-15 08:49:37
  EXPECT_EQ(failure_of(Dialect::OpenAI, 429, {&field, 1}, "", kLater).wait, milliseconds(60'000));
}

// F6
TEST(Failure, CountsTokensOnlyOfWhatIsTooLong) {
  const auto failure = [](int status, std::string_view message) {
    return failure_of(
        Dialect::OpenAI, status, {},
        R"({"error":{"message":")" + std::string(message) + R"(","n_ctx":8,"n_prompt_tokens":9}})", kNow);
  };
  const std::string_view words = "the input (9 tokens) is longer than the model's context length (8 tokens)";
  EXPECT_EQ(failure(400, words).kind, FailureKind::ContextTooLong);
  EXPECT_EQ(failure(400, words).overflow, (Overflow{8, 9, {}, 1}));
  for (const int status : {401, 402, 403, 429}) {
    EXPECT_NE(failure(status, words).kind, FailureKind::ContextTooLong) << status;
    EXPECT_EQ(failure(status, words).overflow, Overflow()) << status;
  }
  EXPECT_EQ(failure(400, "temperature is too high").overflow, Overflow());
}

TEST(Failure, TellsWhichShareOfAConversationFits) {
  EXPECT_EQ((Overflow{512, 1024, {}, 512}).share(), 0.5);
  EXPECT_EQ((Overflow{4096, 4000, 2096, 2000}).share(), 0.5);
  EXPECT_EQ((Overflow{4096, 376, 4096, 376}).share(), 0);
  EXPECT_EQ((Overflow{4096, 100, 8192, {}}).share(), 0);
  EXPECT_EQ((Overflow{4096, 100, {}, {}}).share(), 1);
  EXPECT_EQ((Overflow{{}, {}, {}, 4}).share(), std::nullopt);
  EXPECT_EQ((Overflow{512, {}, {}, {}}).share(), std::nullopt);
}

// A stream that began well may end because the window is full.
TEST(Failure, KnowsAnOverflowWithinAStream) {
  stream::Failed failed;
  failed.kind = Text("error");
  failed.error.code = Code::Unavailable;
  failed.error.message =
      "request (1240 tokens) exceeds the available context size (512 tokens), try increasing it";
  const Failure failure = failure_of(Dialect::OpenAI, failed);
  EXPECT_EQ(failure.kind, FailureKind::ContextTooLong);
  EXPECT_EQ(failure.overflow, (Overflow{512, 1240, {}, 728}));
}

// Numbers are counts of tokens only where they are said to be.
TEST(Failure, DoesNotTakeOtherNumbersForCounts) {
  for (const std::string_view message :
       {"context window of 99999999999999999999999 tokens", "context size (0 tokens)",
        "context length 3.5 at 12:30 in gpt-4 of 2024-08-06", "context window", "context size (",
        "limit is "}) {
    const std::string body = R"({"error":{"message":")" + std::string(message) + "\"}}";
    const Failure failure = failure_of(Dialect::OpenAI, 400, {}, body, kNow);
    EXPECT_EQ(failure.overflow, Overflow()) << message;
  }
}

TEST(Failure, KnowsWhichAnswersAreFailures) {
  EXPECT_EQ(failure_kind(Finish::ContextFull), FailureKind::ContextTooLong);
  EXPECT_EQ(failure_kind(Finish::Filtered), FailureKind::Refused);
  EXPECT_EQ(failure_kind(Finish::Refused), FailureKind::Refused);
  EXPECT_EQ(failure_kind(Finish::Error), FailureKind::Server);
  for (const Finish finish : {Finish::Unknown, Finish::Stop, Finish::StopSequence, Finish::ToolCalls,
                              Finish::Length, Finish::Paused, Finish::MalformedCall}) {
    EXPECT_EQ(failure_kind(finish), std::nullopt);
  }
}

}  // namespace
}  // namespace parley
