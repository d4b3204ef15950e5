// The wordings, with the servers that use them:
//
//   llama.cpp       request (1240 tokens) exceeds the available context size (512 tokens), try ...
//   llama-cpp-python  Requested tokens (2285) exceed context window of 2048
//   OpenAI, vLLM    This model's maximum context length is 4096 tokens. However, you requested 4472 tokens
//                   (376 in the messages, 4096 in the completion).
//   vLLM            'max_tokens' ... is too large: 4096. This model's maximum context length is 4096 tokens
//                   and your request has 376 input tokens
//                   The decoder prompt (length 10127) is longer than the maximum model length of 8192.
//                   The prompt (total length 25938) is too long to fit into the model (context length 4096).
//   SGLang          The input (61709 tokens) is longer than the model's context length (40960 tokens).
//                   Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens).
//                   Requested token count exceeds the model's maximum context length of 8192 tokens. You
//                   requested a total of 9000 tokens: 8000 tokens from the input messages and 1000 tokens for
//                   the completion.
//   TGI, Together   `inputs` must have less than 1024 tokens. Given: 1168
//                   `inputs` tokens + `max_new_tokens` must be <= 1512. Given: 1000 `inputs` tokens and 1024
//                   `max_new_tokens`
//   Ollama          prompt too long; exceeded max context length by 4 tokens
//   LM Studio       Trying to keep the first 15857 tokens when context the overflows. However, the model is
//                   loaded with context length of only 4096 tokens
//                   (n_keep: 11111 >= n_ctx: 4096)
//   Groq            on tokens per minute (TPM): Limit 12000, Requested 14137
//   Mistral         Prompt contains 40026 tokens, too large for model with 32768 maximum context length
//   OpenRouter      This endpoint's maximum context length is 65536 tokens. However, you requested about
//                   92208 tokens (60833 of text input, 10042 of tool input, 21333 in the output).
//   Anthropic       prompt is too long: 210000 tokens > 200000 maximum
//                   input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000
//   Gemini          The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).
//   Moonshot        exceeded model token limit: 262144 (requested: 269030)
//   xAI             This model's maximum prompt length is 131072 but the request contains 537812 tokens.
//   Copilot         prompt token count of 93854 exceeds the limit of 90000
//   Cerebras        Current length is 42328 while limit is 40000
#include "dialect/core/overflow.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace parley {
namespace {

constexpr auto kPhrases = std::to_array<std::string_view>({
    "context window",
    "context length",
    "context size",
    "context_length",
    "context limit",
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "longer than the maximum model length",
    "exceeds the maximum allowed length",
    "exceeds the maximum number of tokens",
    "exceeded model token limit",
    "maximum prompt length is",
    "prompt exceeds max length",
    "prompt token count",
    "range of input length",
    "`inputs` must have less than",
    "`inputs` tokens + `max_new_tokens` must be",
    "request too large for",
    "please reduce the length of the messages",
});

enum class Count : std::uint8_t { Limit, Prompt, Output, Total, Excess };

// What a number between these two texts counts. Either may be empty, not both.
struct Row {
  std::string_view before, after;
  Count count;
};

// The first row that fits decides.
constexpr auto kRows = std::to_array<Row>({
    // The parts of a total, told by what follows them.
    {"", " in the messages", Count::Prompt},
    {"", " of text input", Count::Prompt},
    {"", " of tool input", Count::Prompt},
    {"", " of image input", Count::Prompt},
    {"", " tokens from the input messages", Count::Prompt},
    {"", " input tokens", Count::Prompt},
    {"", " `inputs` tokens", Count::Prompt},
    {"", " in your prompt", Count::Prompt},
    {"", " in the completion", Count::Output},
    {"", " for the completion", Count::Output},
    {"", " tokens for the completion", Count::Output},
    {"", " in the output", Count::Output},
    {"", " output tokens", Count::Output},
    {"", " `max_new_tokens`", Count::Output},
    {"", " maximum context length", Count::Limit},
    {"exceed context limit: ", " + ", Count::Prompt},
    {" + ", " > ", Count::Output},
    {" > ", "", Count::Limit},
    {"is too long: ", " tokens >", Count::Prompt},
    {"max_completion_tokens' is too large: ", "", Count::Output},
    // What follows a name.
    {"maximum context length is ", "", Count::Limit},
    {"maximum context length of ", "", Count::Limit},
    {"context length of only ", "", Count::Limit},
    {"reached context length of ", "", Count::Limit},
    {"model's context length (", "", Count::Limit},
    {"(context length ", "", Count::Limit},
    {"context size (", "", Count::Limit},
    {"context size is ", "", Count::Limit},
    {"context window of ", "", Count::Limit},
    {"maximum model length of ", "", Count::Limit},
    {"maximum allowed length (", "", Count::Limit},
    {"maximum prompt length is ", "", Count::Limit},
    {"tokens allowed (", "", Count::Limit},
    {"model token limit: ", "", Count::Limit},
    {"must have less than ", "", Count::Limit},
    {"must be <= ", "", Count::Limit},
    {"limit of ", "", Count::Limit},
    {"limit is ", "", Count::Limit},
    {": limit ", "", Count::Limit},
    {"n_ctx: ", "", Count::Limit},
    {"max context length by ", "", Count::Excess},
    {"exceeded context length by ", "", Count::Excess},
    {"you requested a total of ", "", Count::Total},
    {"you requested about ", "", Count::Total},
    {"you requested ", "", Count::Total},
    {"(requested: ", "", Count::Total},
    {", requested ", "", Count::Total},
    {"for a total of at least ", "", Count::Total},
    {"request (", "", Count::Prompt},
    {"requested tokens (", "", Count::Prompt},
    {"resulted in ", "", Count::Prompt},
    {"request contains ", "", Count::Prompt},
    {"prompt contains at least ", "", Count::Prompt},
    {"prompt contains ", "", Count::Prompt},
    {"prompt has ", "", Count::Prompt},
    {"the input (", "", Count::Prompt},
    {"input length (", "", Count::Prompt},
    {"prompt (length ", "", Count::Prompt},
    {"(total length ", "", Count::Prompt},
    {"token count of ", "", Count::Prompt},
    {"token count (", "", Count::Prompt},
    {"current length is ", "", Count::Prompt},
    {"keep the first ", "", Count::Prompt},
    {"n_keep: ", "", Count::Prompt},
    {"given: ", "", Count::Prompt},
});

struct Counts {
  std::array<std::optional<std::uint64_t>, 5> values;
  std::optional<std::uint64_t>& of(Count count) { return values[static_cast<std::size_t>(count)]; }
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct Number {
  std::uint64_t value = 0;
  std::size_t end = 0;
};

// A number with or without commas between thousands; 0 if it is too large to count tokens.
Number number_at(std::string_view text, std::size_t begin) {
  constexpr std::uint64_t kMost = 1'000'000'000'000;
  Number out{0, begin};
  bool is_too_large = false;
  const auto goes_on = [&] {
    if (out.end >= text.size()) return false;
    if (is_digit(text[out.end])) return true;
    return text[out.end] == ',' && out.end + 1 < text.size() && is_digit(text[out.end + 1]);
  };
  for (; goes_on(); ++out.end) {
    if (text[out.end] == ',') continue;
    if (!is_too_large) out.value = out.value * 10 + static_cast<std::uint64_t>(text[out.end] - '0');
    is_too_large = is_too_large || out.value > kMost;
  }
  if (is_too_large) out.value = 0;
  return out;
}

void take(Counts& counts, const Number& number, std::string_view before, std::string_view after) {
  const auto row = std::find_if(kRows.begin(), kRows.end(), [&](const Row& each) {
    return before.ends_with(each.before) && after.starts_with(each.after);
  });
  if (row == kRows.end() || number.value == 0) return;
  std::optional<std::uint64_t>& value = counts.of(row->count);
  const bool is_part = row->before.empty() && row->count == Count::Prompt;  // of text, of tools, of images
  value = is_part ? value.value_or(0) + number.value : value.value_or(number.value);
}

}  // namespace

bool says_too_long(std::string_view message) {
  return std::ranges::any_of(kPhrases, [&](std::string_view phrase) { return message.contains(phrase); });
}

Overflow overflow_in(std::string_view message, const Overflow& known) {
  Counts counts;
  for (std::size_t i = message.find_first_of("0123456789"); i < message.size();
       i = message.find_first_of("0123456789", i)) {
    const Number number = number_at(message, i);
    take(counts, number, message.substr(0, i), message.substr(number.end));
    i = number.end;
  }
  Overflow out{counts.of(Count::Limit), counts.of(Count::Prompt), counts.of(Count::Output),
               counts.of(Count::Excess)};
  const std::uint64_t output = out.output.value_or(0);
  const std::optional<std::uint64_t> total = counts.of(Count::Total);
  if (!out.prompt && total && *total > output) out.prompt = *total - output;
  if (known.limit) out.limit = known.limit;
  if (known.prompt) out.prompt = known.prompt;
  if (!out.excess && out.limit && out.prompt && *out.prompt + output > *out.limit) {
    out.excess = *out.prompt + output - *out.limit;
  }
  return out;
}

}  // namespace parley
