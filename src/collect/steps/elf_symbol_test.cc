#include "collect/steps/elf_symbol.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

#include "base/system/descriptor.h"
#include "collect/test_fakes.h"

namespace spotter::collect {
namespace {

constexpr const char* kStep = "_ZN5torch8autograd8profiler12profilerStepEv";

// A file without a name.
Descriptor file_of(const std::string& bytes) {
  Descriptor file(memfd_create("library", MFD_CLOEXEC));
  EXPECT_EQ(::write(file.fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  return file;
}

// The file's offset of a function as the loader has it.
u64 offset_in(const std::string& path, const char* name, void* library) {
  Dl_info info{};
  link_map* map = nullptr;
  void* const at = dlsym(library, name);
  EXPECT_NE(at, nullptr) << name;
  dladdr1(at, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP);
  // The bytes of the function are found in the file only where the offset is right.
  std::ifstream in(path, std::ios::binary);
  std::stringstream all;
  all << in.rdbuf();
  const std::string bytes = all.str();
  const auto* const head = reinterpret_cast<const Elf64_Ehdr*>(bytes.data());
  const auto* const segments = reinterpret_cast<const Elf64_Phdr*>(bytes.data() + head->e_phoff);
  const u64 address = reinterpret_cast<u64>(at) - map->l_addr;
  for (int i = 0; i < head->e_phnum; ++i)
    if (segments[i].p_type == PT_LOAD && address >= segments[i].p_vaddr &&
        address < segments[i].p_vaddr + segments[i].p_filesz)
      return address - segments[i].p_vaddr + segments[i].p_offset;
  ADD_FAILURE() << "no segment has it";
  return 0;
}

TEST(FindFunction, AsTheLoaderFindsIt) {
  const std::string path = (fakes() / "libtorch_cpu.so").string();
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  for (const char* name : {kStep, "_ZN5torch8autograd8profiler13profilerStartEv", "fake_step"}) {
    const auto offset = find_function(file.fd, name);
    ASSERT_TRUE(offset) << offset.error().message;
    EXPECT_EQ(*offset, offset_in(path, name, library)) << name;
  }
}

TEST(FindFunction, WhatIsNotThere) {
  const Descriptor file(::open((fakes() / "libtorch_cpu.so").string().c_str(), O_RDONLY | O_CLOEXEC));
  // `memcpy` and its like are wanted there, and not defined.
  for (const char* name :
       {"", "profilerStep", "_ZN5torch8autograd8profiler12profilerStepE", "memcpy", "strlen"}) {
    const auto offset = find_function(file.fd, name);
    ASSERT_TRUE(offset) << offset.error().message;
    EXPECT_EQ(*offset, std::nullopt) << name;
  }
}

TEST(FindFunction, WhatIsNoLibrary) {
  EXPECT_EQ(find_function(file_of("").fd, kStep).error().code, Code::invalid);
  EXPECT_EQ(find_function(file_of("\x7f"
                                  "ELF")
                              .fd,
                          kStep)
                .error()
                .code,
            Code::invalid);
  EXPECT_EQ(find_function(file_of(std::string(10'000, 'x')).fd, kStep).error().code, Code::invalid);
}

// It ends, finds what is there or nothing, and reads nothing beyond the file.
TEST(FindFunction, DamageAnywhere) {
  std::ifstream in((fakes() / "libtorch_cpu.so").string(), std::ios::binary);
  std::stringstream all;
  all << in.rdbuf();
  const std::string whole = all.str();
  std::mt19937 random(1);
  const auto find_in = [](const std::string& bytes) {
    const auto offset = find_function(file_of(bytes).fd, kStep);
    return offset ? offset->has_value() : false;
  };
  ASSERT_TRUE(find_in(whole));
  for (size_t cut = 0; cut < 4096; cut += 7) EXPECT_FALSE(find_in(whole.substr(0, cut))) << cut;
  int found = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = whole;
    for (int n = 0; n < 3; ++n) bytes[random() % 4096] = static_cast<char>(random());
    found += find_in(bytes);
  }
  EXPECT_GT(found, 0);
  EXPECT_LT(found, 3000);
}

}  // namespace
}  // namespace spotter::collect
