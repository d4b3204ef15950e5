#include "dialect/rules/report.h"

#include <algorithm>
#include <tuple>

#include "json/pointer.h"

namespace parley::rules {
namespace {

constexpr Rule kWrongShape = {"wrong_shape", kError, {}};
constexpr Rule kMissingMember = {"missing_member", kError, {}};

unsigned kind_of(const Json& json) {
  switch (json.type()) {
    case Json::Type::String:
      return kString;
    case Json::Type::Array:
      return kList;
    case Json::Type::Object:
      return kObject;
    case Json::Type::Bool:
      return kBool;
    default:
      return 0;
  }
}

// "a string or a list"
std::string name_of(unsigned wants) {
  constexpr std::pair<unsigned, std::string_view> kNames[] = {
      {kString, "a string"}, {kList, "a list"}, {kObject, "an object"}, {kBool, "true or false"}};
  std::string out;
  for (const auto& [want, name] : kNames) {
    if ((wants & want) == 0) continue;
    if (!out.empty()) out += " or ";
    out += name;
  }
  return out;
}

}  // namespace

Report::Mark Report::mark(const Json& where) const {
  Mark out = here_;
  out.offset = static_cast<std::size_t>(where.text().data() - document_.text().data());
  return out;
}

void Report::add(const Rule& rule, const Mark& where, std::string_view sentence) {
  if ((rule.level == kError ? errors_ : warnings_)++ >= kMostFindings) return;
  found_.push_back({where,
                    found_.size(),
                    rule.code,
                    rule.level,
                    std::string(sentence.empty() ? rule.sentence : sentence),
                    {}});
}

std::vector<Finding> Report::finish() {
  std::ranges::sort(found_, {}, [](const Found& found) { return std::pair(found.mark.offset, found.order); });
  std::vector<std::size_t> offsets;
  offsets.reserve(found_.size());
  for (const Found& found : found_) offsets.push_back(found.mark.offset);
  std::vector<std::string> pointers = json::pointers_at(document_.text(), offsets);
  for (std::size_t i = 0; i < found_.size(); ++i) found_[i].path = std::move(pointers[i]);
  std::ranges::sort(found_, {}, [](const Found& found) {
    return std::tuple(found.mark.message, found.mark.offset, found.order);
  });
  std::vector<Finding> out;
  out.reserve(found_.size());
  for (Found& found : found_) {
    out.push_back({std::string(found.code), found.level, found.mark.message, found.mark.block,
                   std::move(found.path), std::move(found.sentence)});
  }
  return out;
}

Object::Object(Report& report, const Json& json)
    : report_(&report), json_(json), members_(json.members()), is_object_(json.is_object()) {
  if (!is_object_) report.add(kWrongShape, report.mark(json), "this must be an object");
}

const Json* Object::find(std::string_view name) const& {
  const auto found = std::find_if(members_.rbegin(), members_.rend(),
                                  [&](const Json::Member& member) { return member.key.view() == name; });
  return found == members_.rend() || found->value.is_null() ? nullptr : &found->value;
}

const Json* Object::get(std::string_view name, unsigned wants) const& {
  const Json* member = find(name);
  if (member == nullptr || (kind_of(*member) & wants) != 0) return member;
  report_->add(kWrongShape, report_->mark(*member), "'" + std::string(name) + "' must be " + name_of(wants));
  return nullptr;
}

const Json* Object::need(std::string_view name, unsigned wants) const& {
  const Json* member = get(name, wants);
  if (member == nullptr && is_object_ && !has(name)) {
    report_->add(kMissingMember, report_->mark(json_), "the member '" + std::string(name) + "' is missing");
  }
  return member;
}

std::optional<Text> Object::string(std::string_view name) const {
  const Json* member = get(name, kString);
  return member == nullptr ? std::nullopt : member->as_string();
}

std::optional<Text> Object::need_string(std::string_view name) const {
  const Json* member = need(name, kString);
  return member == nullptr ? std::nullopt : member->as_string();
}

Text Object::word(std::string_view name) const {
  const Json* member = find(name);
  return member == nullptr ? Text() : member->as_string().value_or(Text());
}

Talk find_talk(Report& report, const Json& document, const Layout& layout) {
  if (document.is_array()) return {document.elements(), Object(report), document, true, false};
  Talk talk{{}, Object(report, document), document, false, false};
  if (!talk.around.is_object()) return talk;
  if (talk.around.has(layout.list)) {
    const Json* list = talk.around.get(layout.list, kList);
    talk.has_request = true;
    if (list == nullptr) return talk;
    talk.messages = list->elements();
    talk.place = *list;
    talk.is_whole = true;
  } else if (!layout.answers.empty() && talk.around.has(layout.answers)) {
    const Json* list = talk.around.get(layout.answers, kList);
    if (list == nullptr) return talk;
    each_object(report, *list, [&](const Object& each) {
      if (const Json* message = each.find(layout.answer)) talk.messages.push_back(*message);
    });
  } else if (!layout.answer.empty() && talk.around.has(layout.answer)) {
    talk.messages.push_back(*talk.around.find(layout.answer));
  } else if (talk.around.has(layout.mark)) {
    talk.messages.push_back(document);
    talk.around = Object(report);
  } else {
    report.add(kMissingMember, report.mark(document),
               "this is neither a request nor a response, a list of messages or a message");
  }
  return talk;
}

}  // namespace parley::rules
