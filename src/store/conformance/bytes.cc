// P9 and P11: what is given comes back to the byte, whatever it is, up to the limits.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/base/clock.h"
#include "store/conformance/subject.h"

namespace parley::store::conformance {
namespace {

// Appends the records as one batch through one opening and reads them through the other.
Result<void> expect_kept(const Subject& s, const SessionKey& key, const std::vector<Record>& given) {
  PARLEY_TRY(const Appended first, append(*s.one, key, given));
  std::size_t next = first.first;
  const Result<void> read = s.two->each(key, first.first, [&](const StoredRecord& came) -> Result<void> {
    const std::string what = "record " + std::to_string(next) + " of '" + key.session + "'";
    PARLEY_CHECK(expect_equal(what + ", position", next, came.position));
    return expect_record(what, given[next++ - first.first], came);
  });
  PARLEY_CHECK(must("read", read));
  return expect_equal("how many records came back", first.first + given.size(), next);
}

std::string every_byte() {
  std::string out;
  for (int byte = 0; byte < 256; ++byte) out += static_cast<char>(byte);
  return out;
}

// Bytes without order, the same at every run. With `alphabet` 64 they are base64, and look like media.
std::string noise(std::size_t size, unsigned alphabet, std::uint64_t seed) {
  constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out(size, '\0');
  std::uint64_t state = seed * 2 + 1;
  for (char& c : out) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const auto value = static_cast<unsigned>(state >> 33) % alphabet;
    c = alphabet == 64 ? kBase64[value] : static_cast<char>(value);
  }
  return out;
}

std::string base64_of(std::size_t size, std::uint64_t seed = 1) { return noise(size, 64, seed); }

Result<void> every_byte_comes_back(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const std::string all = every_byte();
  std::vector<Record> given = {
      body_of(""),         body_of(all),     body_of(all + all),         body_of(std::string(3, '\0')),
      body_of(" \t\r\n "), body_of("\\x00"), body_of("\xEF\xBB\xBF{}\n")};
  for (const char byte : all) given.push_back(body_of(std::string(1, byte)));
  return expect_kept(s, s.key("bytes"), given);
}

Result<void> every_field_comes_back(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  using namespace std::string_literals;
  std::vector<Record> given;
  for (const RecordKind kind : {RecordKind::Message, RecordKind::Summary, RecordKind::Change}) {
    given.push_back({kind, "dialect", "{}", "id", "role", "name", "text", 1'700'000'000'123});
  }
  for (const std::string& odd :
       {"nul \0 inside"s, "\0"s, "\0\0ends\0"s, "'; DROP TABLE records;--"s, "\"quoted\" \\back\\"s,
        "a\nb\r\nc\td"s, "\u0001\u001f\u007f"s, "$1 ? :x @y %s {}"s, "\U0001F600\u200d\u2764\ufe0f"s,
        "\u202Eright to left"s, "e\u0301 \u00e9"s, "\ufeff"s, "\uffff\U0010ffff"s, std::string(10'000, 'x'),
        " spaces "s}) {
    given.push_back({RecordKind::Message, odd, odd, odd, odd, odd, odd, 0});
  }
  return expect_kept(s, s.key("fields"), given);
}

Result<void> every_time_comes_back(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  std::vector<Record> given;
  for (const std::int64_t time : {std::int64_t{1}, std::int64_t{-1}, std::int64_t{1'763'000'000'001},
                                  std::int64_t{253'402'300'799'999}, std::int64_t{9'007'199'254'740'993}}) {
    given.push_back(said("at " + std::to_string(time)));
    given.back().created_ms = time;
  }
  PARLEY_CHECK(expect_kept(s, s.key("times"), given));
  const std::int64_t before = now_ms();
  PARLEY_TRY(const Appended now, append(*s.one, s.key("times"), {said("now")}));
  PARLEY_TRY(const Page page, must("read", s.two->read(s.key("times"), {.first = now.first})));
  const std::int64_t came = page.records.at(0).created_ms;
  return expect("a record without a time has the one of its append", before <= came && came <= now_ms());
}

Result<void> summaries_take_nothing_out(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("summary");
  std::vector<Record> given = numbered(0, 5);
  given.push_back({RecordKind::Summary, "parley", R"({"covers":[0,4]})", "s", "user", "", "in short", 0});
  given.push_back({RecordKind::Change, "parley", R"({"hides":[1]})", "", "", "", "", 0});
  return expect_kept(s, key, given);
}

Result<void> media_come_back(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  std::vector<Record> given;
  for (const std::size_t size : {4095U, 4096U, 4097U, 8191U, 8192U, 100'000U}) {
    const std::string medium = base64_of(size, size);
    given.push_back(body_of(medium));
    given.push_back(body_of(R"({"url":"data:image/png;base64,)" + medium + "\"}"));
    given.push_back(body_of(std::string("\xFF\0", 2) + medium));
  }
  return expect_kept(s, s.key("media"), given);
}

Result<void> repeated_media_come_back(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const std::string a = base64_of(20'000, 1), b = base64_of(5'000, 2);
  const std::string both = a + "\n" + b;
  const std::vector<Record> given = {body_of(a),           body_of("[" + a + "]"),
                                     body_of(both),        body_of(a + "," + a + "," + b + "," + a),
                                     body_of(b + " " + a), body_of(a + b)};
  for (const char* session : {"first", "second"}) {
    PARLEY_CHECK(expect_kept(s, s.key(session), given));
    PARLEY_CHECK(expect_kept(s, s.key(session), given));
  }
  PARLEY_CHECK(must("remove", s.one->remove(s.key("first"))));
  std::vector<std::string> bodies;
  for (int turn = 0; turn < 2; ++turn) {
    for (const Record& record : given) bodies.push_back(record.body);
  }
  PARLEY_CHECK(expect_bodies("media that a removed session had too", *s.two, s.key("second"), bodies));
  return expect_kept(s, s.key("first"), given);
}

Result<void> largest_body_comes_back(const Open& open, std::string body) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("large");
  PARLEY_CHECK(expect_kept(s, key, {body_of("before"), body_of(body), body_of("behind")}));
  PARLEY_CHECK(must("remove", s.one->remove(key)));
  body += 'x';
  return expect_fails("a body with one byte more", Code::LimitExceeded,
                      s.one->append(key, Batch({body_of(std::move(body))})));
}

Result<void> largest_body_of_bytes_comes_back(const Open& open) {
  return largest_body_comes_back(open, noise(StoreLimits{}.body_bytes, 256, 7));
}

Result<void> largest_body_of_media_comes_back(const Open& open) {
  return largest_body_comes_back(open, base64_of(StoreLimits{}.body_bytes, 8));
}

Result<void> long_text_comes_back(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  std::string text;
  while (text.size() < std::size_t{3} << 20) text += "words of a long text \u4e2d\u6587 ";
  return expect_kept(s, s.key("text"), {said(std::move(text))});
}

constexpr Check kChecks[] = {
    {"every_byte_comes_back", "P9", "Bodies of any bytes come back.", every_byte_comes_back},
    {"every_field_comes_back", "P9", "The words beside a body come back, NUL and quotes too.",
     every_field_comes_back},
    {"every_time_comes_back", "P9", "The time of a record comes back; none is the time of the append.",
     every_time_comes_back},
    {"summaries_take_nothing_out", "P8", "A summary is one more record.", summaries_take_nothing_out},
    {"media_come_back", "P9", "Media of any size come back in their place.", media_come_back},
    {"repeated_media_come_back", "P9", "Media that several records have come back in each, and stay.",
     repeated_media_come_back},
    {"largest_body_of_bytes_comes_back", "P11", "A body may have the most bytes, and not one more.",
     largest_body_of_bytes_comes_back},
    {"largest_body_of_media_comes_back", "P11", "Media may have the most bytes, and not one more.",
     largest_body_of_media_comes_back},
    {"long_text_comes_back", "P9", "A text that is longer than what is searched comes back.",
     long_text_comes_back},
};

}  // namespace

std::span<const Check> byte_checks() { return kChecks; }

}  // namespace parley::store::conformance
