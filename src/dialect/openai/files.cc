// Files that OpenAI has, named by their ids.
#include "dialect/openai/files.h"

#include "dialect/openai/parts.h"
#include "dialect/rows.h"
#include "parley/json/writer.h"

namespace parley::dialect::openai {
namespace {

// Only a user's message takes them, and no images.
std::optional<Json> write_file(const ProviderFile& file, bool in_result) {
  if (file.is_image || in_result) return std::nullopt;
  json::Writer w;
  w.begin_object().key("type").string("file").key("file").begin_object().key("file_id").value(file.id);
  if (!file.name.empty()) w.key("filename").string(file.name);
  return w.end_object().end_object().take();
}

}  // namespace

std::optional<ProviderFile> read_file(const Json& block) {
  const Json holder = block.get("file").value_or(block);
  const auto id = holder.get("file_id");
  if (!id || !id->is_string()) return std::nullopt;
  const Text type = text_at(block, "/type");
  const bool is_image = type == Text("image") || type == Text("input_image");
  return ProviderFile{*id, is_image, text_at(holder, "/filename"), {}};
}

const FileBlocks kFiles = {read_file, write_file};

}  // namespace parley::dialect::openai
