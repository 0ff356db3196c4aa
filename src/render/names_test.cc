#include "render/names.h"

#include <gtest/gtest.h>

#include "base/text/utf8.h"
#include "render/render.h"

namespace spotter::render {
namespace {

using Texts = std::vector<std::string>;

TEST(Names, WhatTellsNothingGoes) {
  EXPECT_EQ(
      plain_names({"void at::native::(anonymous namespace)::add<at::native::Sum>(int)", "void", "void gemm"}),
      (Texts{"add<Sum>(int)", "void", "void gemm"}));
}

TEST(Names, ThatWouldBecomeEqualStayWhole) {
  const Texts names = {"at::native::add", "add", "add"};
  EXPECT_EQ(plain_names(names), names);
}

TEST(Names, ThoseThatLookAlikeKeepWhereTheyDiffer) {
  const std::string head = "elementwise_kernel<128, 2, gpu_kernel_impl<",
                    tail = "> >(TensorIteratorBase&)::{lambda(int)#1})";
  const Texts names = {head + "MulFunctor<float>" + tail, head + "AddFunctor<float>" + tail,
                       head + "AddFunctor<double>" + tail};
  const Texts shorts = shortened(names, 36);
  EXPECT_EQ(shorts, (Texts{"elementwise_…MulFunctor<floa…nt)#1})", "elementwise_…AddFunctor<floa…nt)#1})",
                           "elementwise_…AddFunctor<doub…nt)#1})"}));
}

TEST(Names, AreNeverWiderThanAskedNorBroken) {
  const Texts names = {
      "漢字漢字漢字漢字漢字a漢字漢字漢字漢字漢字漢字", "漢字漢字漢字漢字漢字b漢字漢字漢字漢字漢字漢字",
      "漢字漢字漢字漢字漢字ab漢字漢字漢字漢字漢字漢字", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
      "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"};
  for (int width = 1; width < 45; width++) {
    for (const std::string& text : shortened(names, width)) {
      EXPECT_LE(display_width(text), width);
      EXPECT_TRUE(is_valid_utf8(text));
    }
  }
}

TEST(Names, InASentenceAreOneWholeText) {
  EXPECT_EQ(short_name("void at::native::gemm<1>(\x1b[31m)", 40), "gemm<1>(\uFFFD[31m)");
  EXPECT_EQ(short_name("éééééééééé", 7), "éééé…éé");
}

}  // namespace
}  // namespace spotter::render
