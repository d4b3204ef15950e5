#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "media/image/sample_images_testing.h"
#include "parley/guard/request.h"

namespace parley {
namespace {

using namespace samples;

Block image(const std::string& bytes, const char* type) {
  return ImageBlock{Base64Source{*Text::checked(type), *Text::checked(base64_encode(bytes))}};
}
Message said(std::vector<Block> blocks) {
  return MessageBuilder(Role::User).blocks(std::move(blocks)).build().value();
}

TEST(InspectMedia, FindsNothingInGoodMedia) {
  const Message messages[] = {
      said({image(png(), "image/png"), image(jpeg(), "image/jpeg"), TextBlock{"Which is better?"}}),
      said({ImageBlock{URLSource{"https://example.com/a.png", ""}},
            ImageBlock{URLSource{*Text::checked("data:image/gif;base64," + base64_encode(gif())), ""}}})};
  EXPECT_EQ(inspect_media(messages), std::vector<Finding>());
}

TEST(InspectMedia, ReportsUndecodableMediaAndWrongTypes) {
  const Message messages[] = {
      said({TextBlock{"Look."}, image(jpeg().substr(0, jpeg().size() / 2), "image/jpeg")}),
      said({ToolResultBlock{"c1", "shot", std::vector<Block>{image(png(), "image/jpeg")}}}),
      said({image("<svg/>", "image/png")})};
  const std::vector<Finding> found = inspect_media(messages);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].code, "bad_image");
  EXPECT_EQ(found[0].level, FindingLevel::Error);
  EXPECT_EQ(found[0].message_index, 0U);
  EXPECT_EQ(found[0].block_index, 1U);
  EXPECT_EQ(found[1].code, "wrong_media_type");
  EXPECT_EQ(found[1].level, FindingLevel::Warning);
  EXPECT_EQ(found[1].sentence, "declared as image/jpeg, but the bytes are image/png");
  EXPECT_EQ(found[1].message_index, 1U);
  EXPECT_EQ(found[2].code, "bad_image");
  EXPECT_EQ(found[2].message_index, 2U);
}

TEST(InspectMedia, ReadsDataUrlsAsBrowsersDo) {
  const std::string base64 = base64_encode(png());
  const auto findings = [](const std::string& url) {
    const Message message = said({ImageBlock{URLSource{*Text::checked(url), ""}}});
    std::vector<Finding> all = validate({&message, 1});
    for (Finding& each : inspect_media({&message, 1})) all.push_back(std::move(each));
    return all;
  };
  for (const std::string& good : {"data:image/png;base64," + base64, "DATA:image/png; BASE64," + base64}) {
    EXPECT_TRUE(findings(good).empty()) << good;
  }
  for (const std::string& bad :
       {"data:image/svg+xml,%3Csvg%3E" + base64, std::string("data:text/html,%3Cscript%3E"),
        std::string("data:image/png,not-an-image!"), std::string("data:image/png;Base64,####"),
        std::string("data:image/png; base64,####"), std::string("DATA:image/png;base64,####"),
        std::string("data:image/png;base64"), "data:text/html;base64," + base64}) {
    EXPECT_FALSE(findings(bad).empty()) << bad;
  }
}

TEST(InspectMedia, LooksIntoAudioAndVideo) {
  const std::string wav = "RIFF" + little(40, 4) + "WAVEfmt " + little(16, 4) + little(1, 2) + little(1, 2) +
                          little(8000, 4) + little(16000, 4) + little(2, 2) + little(16, 2) + "data" +
                          little(4, 4) + std::string(4, '\0');
  const auto audio = [](const std::string& bytes, const char* type) {
    return AudioBlock{Base64Source{*Text::checked(type), *Text::checked(base64_encode(bytes))}};
  };
  const Message messages[] = {said({audio(wav, "audio/wav")}), said({audio(wav.substr(0, 30), "audio/wav")}),
                              said({audio(wav, "audio/x-wav")})};
  const std::vector<Finding> found = inspect_media(messages);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].code, "bad_clip");
  EXPECT_EQ(found[0].message_index, 1U);
  EXPECT_EQ(found[1].code, "wrong_media_type");
}

TEST(InspectMedia, LeavesBase64AndBytesToValidate) {
  const Message messages[] = {said({ImageBlock{Base64Source{"image/png", "no base64!"}}}),
                              said({image(std::string(200, 'x'), "image/png")})};
  MediaOptions options;
  options.image.bytes = 100;
  EXPECT_TRUE(inspect_media(messages, options).empty());
}

}  // namespace
}  // namespace parley
