#include "cli/conversation_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/look.h"
#include "cli/markdown.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "parley/media/image.h"

namespace parley::cli {
namespace {

std::string shown_image(const ImageBlock& image) {
  const auto* inlined = std::get_if<Base64Source>(&image.source);
  const auto* by_url = std::get_if<URLSource>(&image.source);
  if (by_url != nullptr && !by_url->url.view().starts_with("data:"))
    return fmt::format("[image {}]", by_url->url.view());
  const ImageCheck check = check_base64_image(inlined != nullptr ? inlined->data.view() : by_url->url.view(),
                                              {.level = ImageLevel::Header});
  return check.valid() ? fmt::format("[image {} {} {}, {}]", with_commas(check.width), signs().times,
                                     with_commas(check.height), to_string(check.format))
                       : "[image]";
}

// The first line of what a tool returned.
std::string result_line_of(const ToolResultBlock& result) {
  std::string text;
  if (const auto* own = std::get_if<Text>(&result.output)) text = own->str();
  if (const auto* parts = std::get_if<std::vector<Block>>(&result.output)) {
    for (const Block& part : *parts) {
      const auto* words = part.as<TextBlock>();
      text += words != nullptr ? words->text.str() : fmt::format("[{}]", to_string(part.type()));
    }
  }
  return text.substr(0, text.find('\n'));
}

void add_block(StyledText& out, const Block& block, const MarkdownLook& look) {
  if (const auto* text = block.as<TextBlock>()) {
    out.add(markdown_text(text->text.view(), look));
  } else if (const auto* thinking = block.as<ThinkingBlock>()) {
    const MarkdownLook plain{.has_styles = false, .is_utf8 = look.is_utf8, .width = look.width};
    const StyledText words = markdown_text(thinking->thinking.view(), plain);
    for (const StyledText& line : words.lines()) out.text(line.bytes(), kDimStyle).newline();
  } else if (const auto* use = block.as<ToolUseBlock>()) {
    const AsideLine line{
        fmt::format("  {}  {}", use->name.view(), summary_of_arguments(use->arguments.view()))};
    out.text(laid_out(line, look.width), kDimStyle).newline();
  } else if (const auto* result = block.as<ToolResultBlock>()) {
    const bool is_failure = result->is_error.value_or(false);
    const AsideLine line{fmt::format("  {} {}  {}", is_failure ? signs().failed : signs().done,
                                     result->name.view(), result_line_of(*result))};
    out.text(laid_out(line, look.width), is_failure ? kRedStyle : kDimStyle).newline();
  } else if (const auto* image = block.as<ImageBlock>()) {
    out.text("  ").text(shown_image(*image), kDimStyle).newline();
  } else {
    out.text("  ").text(fmt::format("[{}]", to_string(block.type())), kDimStyle).newline();
  }
}

}  // namespace

StyledText conversation_text(std::span<const Message> messages, const MarkdownLook& look) {
  StyledText out(look.has_styles);
  Role before = Role::System;
  for (const Message& message : messages) {
    // What a tool returned follows its call.
    if (message.role() != Role::Tool || before != Role::Assistant) {
      if (!out.empty()) out.newline();
      out.text(message.name() ? message.name()->view() : to_string(message.role()), kBoldStyle).newline();
    }
    for (const Block& block : message.blocks()) add_block(out, block, look);
    if (message.role() != Role::Tool) before = message.role();
  }
  return out;
}

ExitCode print_conversation(std::span<const Message> messages) {
  Result<Output> output = Output::open("-");
  if (!output) return ExitCode::Environment;
  const Result<void> written = output->write(conversation_text(messages, markdown_look(STDOUT_FILENO)));
  return written ? ExitCode::Ok : output->end(written.error());
}

}  // namespace parley::cli
