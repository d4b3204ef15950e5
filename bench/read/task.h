// Reading a document into messages. Rivals parse and then fill the model (model.h) with the same fields.
#pragma once

#include <vector>

#include "generate.h"
#include "harness.h"

namespace bench::read_task {

std::vector<Contender> parley(const Document& document);
std::vector<Contender> simdjson(const Document& document);
std::vector<Contender> rapidjson(const Document& document);
std::vector<Contender> boost_json(const Document& document);
std::vector<Contender> nlohmann(const Document& document);

std::vector<Group> groups(const std::vector<Document>& documents);

}  // namespace bench::read_task
