// Files that OpenAI has, named by their ids.
#include "dialect/openai/files.h"

#include "dialect/responses/parts.h"
#include "parley/json/writer.h"

namespace parley::dialect::responses {
namespace {

std::optional<Json> write_file(const ProviderFile& file, bool) {
  json::Writer w;
  w.begin_object().key("type").string(file.is_image ? "input_image" : "input_file");
  w.key("file_id").value(file.id);
  if (file.is_image) w.key("detail").string("auto");
  if (!file.is_image && !file.name.empty()) w.key("filename").string(file.name);
  return w.end_object().take();
}

}  // namespace

const FileBlocks kFiles = {openai::read_file, write_file};

}  // namespace parley::dialect::responses
