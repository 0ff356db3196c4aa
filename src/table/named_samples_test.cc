#include "table/named_samples.h"

#include <gtest/gtest.h>

namespace spotter::table {
namespace {

TEST(NamedSamples, LabelsThereAndBack) {
  const std::pair<const char*, const char*> labels[] = {
      {"a", "x"}, {"b", "=\",c=\""}, {"c", "\\"}, {"d", "one\ntwo\\n"}, {"e", ""}};
  std::string text;
  for (const auto& [name, value] : labels) append_label(text, name, value);
  EXPECT_EQ(text, R"(a="x",b="=\",c=\"",c="\\",d="one\ntwo\\n",e="")");
  const auto found = parse_labels(text);
  ASSERT_EQ(found.size(), std::size(labels));
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].first, labels[i].first);
    EXPECT_EQ(found[i].second, labels[i].second);
  }
  EXPECT_TRUE(parse_labels("").empty());
}

TEST(NamedSamples, AreKnownByTheirColumns) {
  EXPECT_TRUE(has_named_samples(Table("any", kNamedSampleColumns)));
  EXPECT_FALSE(has_named_samples(Table("any", std::span(kNamedSampleColumns).first(2))) &&
               has_named_samples(Table("any", std::vector<Field>(std::begin(kNamedSampleColumns),
                                                                 std::end(kNamedSampleColumns)))));
}

}  // namespace
}  // namespace spotter::table
