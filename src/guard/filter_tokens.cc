// The spellings of control tokens: what chat templates are made of. In a text they are words like any other,
// unless a program puts the text into a template; then they would end its turn and begin another one. One
// backslash after the first character makes a spelling that no tokenizer knows and that is visible.
#include <array>

#include "base/literals.h"
#include "guard/edits.h"
#include "guard/filter_rows.h"

namespace parley::guard {
namespace {

// The first two stand for families: <|im_start|>, <|eot_id|>, <|START_OF_TURN_TOKEN|> and any other name
// between bars; DeepSeek's have a fullwidth bar. The rest is complete as it stands.
constexpr std::array<Literal, 64> kSpellings = {{
    {"<|"},
    {"<\xEF\xBD\x9C"},
    // Llama 2, Mistral.
    {"[INST]"},
    {"[/INST]"},
    {"<<SYS>>"},
    {"<</SYS>>"},
    {"<s>"},
    {"</s>"},
    {"[AVAILABLE_TOOLS]"},
    {"[/AVAILABLE_TOOLS]"},
    {"[TOOL_CALLS]"},
    {"[TOOL_RESULTS]"},
    {"[/TOOL_RESULTS]"},
    {"[TOOL_CONTENT]"},
    {"[SYSTEM_PROMPT]"},
    {"[/SYSTEM_PROMPT]"},
    {"[PREFIX]"},
    {"[MIDDLE]"},
    {"[SUFFIX]"},
    {"[IMG]"},
    {"[IMG_BREAK]"},
    {"[IMG_END]"},
    {"[THINK]"},
    {"[/THINK]"},
    {"[ARGS]"},
    {"[CALL_ID]"},
    // Gemma.
    {"<start_of_turn>"},
    {"<end_of_turn>"},
    {"<start_of_image>"},
    {"<end_of_image>"},
    {"<bos>"},
    {"<eos>"},
    {"<pad>"},
    {"<unk>"},
    {"<mask>"},
    // Qwen, Hermes, DeepSeek R1 and others.
    {"<tool_call>"},
    {"</tool_call>"},
    {"<tool_response>"},
    {"</tool_response>"},
    {"<tools>"},
    {"</tools>"},
    {"<think>"},
    {"</think>"},
    // GLM.
    {"[gMASK]"},
    {"[sMASK]"},
    {"[MASK]"},
    {"<sop>"},
    {"<eop>"},
    // Cohere.
    {"<BOS_TOKEN>"},
    {"<EOS_TOKEN>"},
    {"<PAD>"},
    {"<UNK>"},
    {"<CLS>"},
    {"<SEP>"},
    {"<EOP_TOKEN>"},
    // Granite, Falcon, MPT, Baichuan, Yi.
    {"<fim_prefix>"},
    {"<fim_middle>"},
    {"<fim_suffix>"},
    {"<fim_pad>"},
    {"<reponame>"},
    {"<filename>"},
    {"<issue_start>"},
    {"<reserved_106>"},
    {"<reserved_107>"},
}};
constexpr std::size_t kFamilies = 2;

const LiteralSet& spellings() {
  static const LiteralSet set(kSpellings);
  return set;
}

// The end of <|name|> whose bar is `bar`, or 0. A name is short and has no spaces, since <| and |> are
// operators elsewhere; it may hold U+2581, which DeepSeek's names have for a space.
std::size_t family_end(std::string_view text, std::size_t at, std::string_view bar, std::uint64_t& steps) {
  constexpr std::size_t kLongestName = 64;
  constexpr std::string_view kLowerBlock = "\xE2\x96\x81";
  const std::size_t begin = at + 1 + bar.size();
  for (std::size_t i = begin; i < text.size() && i - begin <= kLongestName;) {
    ++steps;
    const char c = text[i];
    if (i > begin && text.substr(i).starts_with(bar)) {
      return text.substr(i + bar.size()).starts_with('>') ? i + bar.size() + 1 : 0;
    }
    if (text.substr(i).starts_with(kLowerBlock)) {
      i += kLowerBlock.size();
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
               c == '-' || c == '.' || c == ':' || c == '/') {
      ++i;
    } else {
      return 0;
    }
  }
  return 0;
}

}  // namespace

void control_tokens(std::string_view text, Edits& edits, std::uint64_t& steps) {
  for (std::size_t from = 0; from < text.size();) {
    std::size_t end = 0;
    const std::size_t at = spellings().find(text, from, steps, [&](std::size_t place, std::size_t index) {
      const std::string_view spelling = kSpellings[index].text;
      end = index < kFamilies ? family_end(text, place, spelling.substr(1), steps) : place + spelling.size();
      return end != 0;
    });
    if (at == text.size()) return;
    edits.replace(at + 1, at + 1, "\\", "control token");
    from = end;
  }
}

}  // namespace parley::guard
