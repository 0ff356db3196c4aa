#include "collect/steps/elf_symbol.h"

#include <elf.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

namespace spotter::collect {
namespace {

constexpr size_t kMostSegments = 256, kMostDynamic = 1024;
constexpr u64 kMostChain = 4096;  // of names with one hash; libraries have a few

Result<void> read_at(int file, u64 offset, void* into, size_t bytes) {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t n =
        pread(file, static_cast<char*>(into) + done, bytes - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(Code::io, "{}", errno_text(errno));
    if (n == 0) return fail(Code::invalid, "it ends before byte {}", offset + bytes);
    done += static_cast<size_t>(n);
  }
  return {};
}

template <typename T>
Result<T> read_one(int file, u64 offset) {
  T value;
  TRY(read_at(file, offset, &value, sizeof value));
  return value;
}

template <typename T>
Result<std::vector<T>> read_many(int file, u64 offset, size_t count) {
  std::vector<T> values(count);
  TRY(read_at(file, offset, values.data(), count * sizeof(T)));
  return values;
}

u32 gnu_hash(std::string_view name) {
  u32 hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  return hash;
}

class Library {
 public:
  Library(int file, std::vector<Elf64_Phdr> segments) : file_(file), segments_(std::move(segments)) {}

  // Of an address in the library as it is laid out in memory.
  Result<u64> offset_of(u64 address, u64 bytes = 1) const {
    for (const Elf64_Phdr& s : segments_)
      if (s.p_type == PT_LOAD && address >= s.p_vaddr && address - s.p_vaddr < s.p_filesz &&
          bytes <= s.p_filesz - (address - s.p_vaddr) &&
          s.p_offset <= static_cast<u64>(INT64_MAX) - s.p_filesz)
        return address - s.p_vaddr + s.p_offset;
    return fail(Code::invalid, "it names the address {:#x}, which none of its segments has", address);
  }

  Result<std::optional<u64>> find(std::string_view name) {
    TRY(read_dynamic());
    if (hash_ == 0 || symbols_ == 0 || names_ == 0) return std::nullopt;
    struct Head {
      u32 buckets, first, bloom, shift;
    };
    TRY_ASSIGN(const u64 head_at, offset_of(hash_, sizeof(Head)));
    TRY_ASSIGN(const Head head, read_one<Head>(file_, head_at));
    if (head.buckets == 0) return std::nullopt;
    const u64 buckets = hash_ + sizeof(Head) + u64{head.bloom} * 8, chains = buckets + u64{head.buckets} * 4;
    const u32 hash = gnu_hash(name);
    TRY_ASSIGN(const u32 begin, word_at(buckets + u64{hash % head.buckets} * 4));
    if (begin < head.first) return std::nullopt;  // the bucket is empty
    for (u64 i = begin; i < begin + kMostChain; ++i) {
      TRY_ASSIGN(const u32 link, word_at(chains + (i - head.first) * 4));
      if ((link | 1) == (hash | 1)) {
        TRY_ASSIGN(const auto address, address_if_named(i, name));
        if (address) return offset_of(*address).map([](u64 offset) { return std::optional(offset); });
      }
      if (link & 1) return std::nullopt;
    }
    return fail(Code::invalid, "its table of names has no end");
  }

 private:
  Result<void> read_dynamic() {
    for (const Elf64_Phdr& s : segments_) {
      if (s.p_type != PT_DYNAMIC) continue;
      TRY_ASSIGN(
          const auto entries,
          read_many<Elf64_Dyn>(file_, s.p_offset, std::min(kMostDynamic, s.p_filesz / sizeof(Elf64_Dyn))));
      for (const Elf64_Dyn& entry : entries) {
        if (entry.d_tag == DT_NULL) break;
        if (entry.d_tag == DT_GNU_HASH) hash_ = entry.d_un.d_ptr;
        if (entry.d_tag == DT_SYMTAB) symbols_ = entry.d_un.d_ptr;
        if (entry.d_tag == DT_STRTAB) names_ = entry.d_un.d_ptr;
      }
    }
    return {};
  }

  Result<u32> word_at(u64 address) const {
    TRY_ASSIGN(const u64 offset, offset_of(address, 4));
    return read_one<u32>(file_, offset);
  }

  Result<std::optional<u64>> address_if_named(u64 symbol, std::string_view name) const {
    TRY_ASSIGN(const u64 at, offset_of(symbols_ + symbol * sizeof(Elf64_Sym), sizeof(Elf64_Sym)));
    TRY_ASSIGN(const Elf64_Sym entry, read_one<Elf64_Sym>(file_, at));
    if (entry.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(entry.st_info) != STT_FUNC) return std::nullopt;
    TRY_ASSIGN(const u64 text_at, offset_of(names_ + entry.st_name, name.size() + 1));
    std::string text(name.size() + 1, '\0');
    TRY(read_at(file_, text_at, text.data(), text.size()));
    if (text.back() != '\0' || std::string_view(text).substr(0, name.size()) != name) return std::nullopt;
    return entry.st_value;
  }

  int file_;
  std::vector<Elf64_Phdr> segments_;
  u64 hash_ = 0, symbols_ = 0, names_ = 0;  // addresses; 0: it has none
};

}  // namespace

Result<std::optional<u64>> find_function(int file, std::string_view name) {
  TRY_ASSIGN(const Elf64_Ehdr head, read_one<Elf64_Ehdr>(file, 0));
  if (std::string_view(reinterpret_cast<const char*>(head.e_ident), SELFMAG) != ELFMAG ||
      head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB)
    return fail(Code::invalid, "it is no 64-bit ELF file");
  if (head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phnum > kMostSegments)
    return fail(Code::invalid, "it has {} segments of {} bytes", head.e_phnum, head.e_phentsize);
  TRY_ASSIGN(auto segments, read_many<Elf64_Phdr>(file, head.e_phoff, head.e_phnum));
  return Library(file, std::move(segments)).find(name);
}

}  // namespace spotter::collect
