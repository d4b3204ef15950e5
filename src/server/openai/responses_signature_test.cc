#include "server/openai/responses_signature.h"

#include <gtest/gtest.h>

#include "parley/dialect/dialect.h"
#include "parley/json/writer.h"

namespace parley::server {
namespace {

ThinkingBlock read_back(const ThinkingBlock& thinking) {
  json::Writer w;
  w.begin_object().key("type").string("reasoning").key("id").string("rs_1").key("summary").begin_array();
  w.begin_object().key("type").string("summary_text").key("text").string(thinking.thinking).end_object();
  w.end_array().key("encrypted_content").string(sealed_signature(thinking.origin, thinking.signature));
  const Message read = from_dict(w.end_object().take(), Dialect::Responses).value();
  return *with_open_signatures(read).blocks().at(0).as<ThinkingBlock>();
}

TEST(ResponsesSignature, ReturnsToItsOrigin) {
  for (const ThinkingBlock& thinking :
       {ThinkingBlock{"hm", "Ep+/=", "anthropic"}, ThinkingBlock{"hm", "a:b:c", "gemini"},
        ThinkingBlock{"hm", "gAAAA", "responses"}}) {
    EXPECT_EQ(read_back(thinking), thinking) << thinking.origin;
  }
}

TEST(ResponsesSignature, ThatOpenAIMadeIsNotChanged) {
  EXPECT_EQ(sealed_signature("responses", "gAAAA"), "gAAAA");
  EXPECT_EQ(sealed_signature("anthropic", ""), "");
  EXPECT_EQ(sealed_signature("anthropic", "Ep"), "parley:anthropic:Ep");
}

TEST(ResponsesSignature, AMessageWithoutOneStaysAsItIs) {
  const Message message =
      from_dict(R"({"type":"message","role":"assistant","content":"parley:x:y","phase":"z"})",
                Dialect::Responses)
          .value();
  EXPECT_EQ(with_open_signatures(message).wire(), message.wire());
}

}  // namespace
}  // namespace parley::server
