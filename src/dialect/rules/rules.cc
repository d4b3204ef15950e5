#include "parley/dialect/rules.h"

#include "dialect/format.h"
#include "dialect/rules/report.h"

namespace parley {

std::vector<Finding> check_rules(const Json& document, Dialect dialect) {
  rules::Report report(document);
  const dialect::Format& format = dialect::format_of(dialect);
  if (format.check_rules != nullptr) format.check_rules(report, document);
  return report.finish();
}

}  // namespace parley
