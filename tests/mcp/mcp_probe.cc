// Calls tools of MCP servers, for tests/judges/mcp.sh.
//   mcp_probe CONFIG                      prints the names of all tools, one a line
//   mcp_probe CONFIG [TOOL ARGUMENTS]...  calls them one after the other; of each it prints the status, then
//   its
//                                         texts as they are, its media by type and size, its structured
//                                         content
// Exit 1 if a server or a tool is not there, 2 at a wrong configuration.
#include <cstdlib>
#include <iostream>
#include <string>

#include "parley/json/json.h"
#include "parley/mcp/mcp.h"

namespace {

using namespace parley;

McpOptions options() {
  McpOptions options;
  for (const std::string_view name : mcp_safe_variables()) {
    const char* value = std::getenv(std::string(name).c_str());  // NOLINT(concurrency-mt-unsafe)
    if (value != nullptr) options.environment.push_back({std::string(name), Secret(value)});
  }
  return options;
}

const MediaSource* source_of(const Block& block) {
  if (const auto* image = block.as<ImageBlock>()) return &image->source;
  if (const auto* audio = block.as<AudioBlock>()) return &audio->source;
  if (const auto* video = block.as<VideoBlock>()) return &video->source;
  if (const auto* document = block.as<DocumentBlock>()) return &document->source;
  return nullptr;
}

void print(const ToolOutput& output) {
  std::cout << "status " << to_string(output.status) << '\n';
  for (const Block& block : output.content) {
    if (const auto* text = block.as<TextBlock>()) std::cout << text->text.view() << '\n';
    const MediaSource* source = source_of(block);
    const auto* bytes = source != nullptr ? std::get_if<Base64Source>(source) : nullptr;
    if (bytes != nullptr) {
      std::cout << to_string(block.type()) << ' ' << bytes->media_type.view() << ' ' << bytes->data.size()
                << '\n';
    }
  }
  if (output.structured) std::cout << "structured " << output.structured->compact().text().view() << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc % 2 != 0) {
    std::cerr << "usage: mcp_probe CONFIG [TOOL ARGUMENTS]...\n";
    return 2;
  }
  const Result<json::Buffer> file = json::Buffer::from_file(argv[1], std::size_t{1024} * 1024);
  const Result<McpConfig> config = file ? read_mcp_config(file->view()) : std::unexpected(file.error());
  if (!config) {
    std::cerr << "mcp_probe: " << config.error().message << " (" << config.error().path << ")\n";
    return 2;
  }
  McpTools tools(*config, options());
  ToolBox box;
  box.set_policy({{{"*", Permission::Allow}}});
  const McpUpdate update = tools.update(box);
  for (const McpUpdate::Failure& trouble : update.failures) {
    std::cerr << "mcp_probe: " << trouble.server << ": " << trouble.error.message << '\n';
  }
  if (argc == 2) {
    for (const std::string& name : update.added) std::cout << name << '\n';
  }
  for (int i = 2; i + 1 < argc; i += 2) {
    const ToolUseBlock use{
        .id = Text(std::to_string(i)), .name = Text(argv[i]), .arguments = Text(argv[i + 1])};
    print(box.run(use));
    (void)tools.update(box);  // a tool may have changed the tools
  }
  return update.failures.empty() ? 0 : 1;
}
