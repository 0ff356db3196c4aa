#include "store/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/system/file.h"
#include "store/bytes.h"
#include "store/series/block_codec.h"

namespace spotter::store {
namespace {

constexpr std::string_view kMagic = "spotter journal 1\n";
enum Kind : u8 { kSchema, kRows };

std::string bytes_of(auto number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

// 0 of fewer bytes than that.
template <class T>
T number_in(std::string_view bytes) {
  T number{};
  if (bytes.size() >= sizeof number) std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

// The steps of FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/) with 64 bits, taken for eight bytes at a
// time; its upper half, on which all bits of all bytes have had an effect.
u32 checksum(std::string_view bytes) {
  constexpr u64 kOffset = 14695981039346656037U, kPrime = 1099511628211;
  u64 sum = kOffset;
  const auto step = [&](u64 word) {
    sum = (sum ^ word) * kPrime;
    sum ^= sum >> 32;
  };
  for (; bytes.size() >= sizeof sum; bytes.remove_prefix(sizeof sum)) step(number_in<u64>(bytes));
  for (const char c : bytes) step(static_cast<u8>(c));
  return static_cast<u32>(sum >> 32);
}

std::string header(i64 number) { return std::string(kMagic) + bytes_of(number); }

void add_record(std::string& out, std::string_view payload) {
  out += bytes_of(static_cast<u32>(payload.size()));
  out += bytes_of(checksum(payload));
  out += payload;
}

void add_cell(ByteWriter& out, const Block& block, size_t row, size_t column) {
  const Column& data = block.columns[column];
  out.byte(data.valid[row]);
  if (!data.valid[row]) return;
  const u64 cell = data.cells[row];
  if (block.schema->fields[column].type == Type::text)
    out.text(block.words[static_cast<StringId>(cell)]);
  else if (block.schema->fields[column].type == Type::real)
    out.bytes(bytes_of(cell));
  else
    out.varint(zigzag(std::bit_cast<i64>(cell)));
}

Value read_cell(ByteReader& in, Type type) {
  if (in.byte() == 0) return {};
  switch (type) {
    case Type::integer:
      return unzigzag(in.varint());
    case Type::real:
      return number_in<double>(in.bytes(sizeof(double)));
    case Type::flag:
      return in.varint() != 0;
    case Type::text:
      return in.text();
  }
  return {};
}

std::optional<JournaledRows> read_part(ByteReader& in, std::span<const SharedSchema> schemas) {
  const u64 schema = in.varint();
  if (schema >= schemas.size()) return {};
  JournaledRows rows{Block(schemas[schema]), 0};
  rows.period = unzigzag(in.varint());
  const auto& fields = rows.block.schema->fields;
  std::vector<Value> row(fields.size());
  for (u64 left = in.varint(); left > 0; --left) {
    const Ns time = unzigzag(in.varint());
    for (size_t i = 0; i < fields.size(); ++i) row[i] = read_cell(in, fields[i].type);
    if (!in.ok() || rows.block.cells() >= kMostBlockCells) return {};
    rows.block.append(time, row);
  }
  if (!in.ok()) return {};
  return rows;
}

// All of a record, or nothing.
bool read_rows(ByteReader in, std::span<const SharedSchema> schemas, std::vector<JournaledRows>& all) {
  std::vector<JournaledRows> parts;
  while (!in.at_end()) {
    std::optional<JournaledRows> part = read_part(in, schemas);
    if (!part) return false;
    parts.push_back(std::move(*part));
  }
  std::ranges::move(parts, std::back_inserter(all));
  return true;
}

void add_part(ByteWriter& out, const JournalPart& part, size_t schema) {
  const Block& block = *part.block;
  out.varint(schema);
  out.varint(zigzag(part.period));
  out.varint(block.rows() - part.from);
  for (size_t row = part.from; row < block.rows(); ++row) {
    out.varint(zigzag(block.times[row]));
    for (size_t column = 0; column < block.columns.size(); ++column) add_cell(out, block, row, column);
  }
}

tl::unexpected<Error> failed(const std::string& path) {
  return fail(Code::io, "{}: {}", path, errno_text(errno));
}

}  // namespace

Result<void> Journal::prepare(i64 number, std::span<const JournalPart> parts) {
  next_.emplace(next_path());
  next_->descriptor =
      Descriptor(::open(next_->path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
  Result<void> made = next_->descriptor.fd < 0 ? failed(next_->path) : write(*next_, header(number));
  if (made) made = append(*next_, parts);
  if (!made) next_.reset();
  return made;
}

Result<void> Journal::take_place() {
  file_ = std::exchange(next_, std::nullopt);
  if (!file_ || std::rename(file_->path.c_str(), path_.c_str()) == 0) return {};
  file_.reset();
  return failed(path_);
}

Result<void> Journal::append(std::span<const JournalPart> parts) {
  if (!file_) return {};
  Result<void> appended = append(*file_, parts);
  if (!appended) file_.reset();
  return appended;
}

// The rows of all parts are one record: it has one checksum, and is there whole or not at all, where the
// process is killed in the middle of writing (the kernel stops then at the end of a page).
Result<void> Journal::append(File& file, std::span<const JournalPart> parts) const {
  std::string out;
  ByteWriter rows;
  rows.byte(kRows);
  for (const JournalPart& part : parts) {
    if (part.from >= part.block->rows()) continue;
    const SharedSchema& schema = part.block->schema;
    const auto [known, is_new] = file.numbers.try_emplace(schema.get(), file.schemas.size());
    if (is_new) {
      file.schemas.push_back(schema);
      add_record(out, std::string(1, kSchema) + encode(*schema));
    }
    add_part(rows, part, known->second);
  }
  if (rows.out().size() > 1) add_record(out, rows.out());
  return write(file, out);
}

Result<void> Journal::write(File& file, std::string_view bytes) const {
  file.bytes += std::ssize(bytes);
  if (file.bytes > most_bytes_) return fail(Code::io, "{} would have more than {} bytes", path_, most_bytes_);
  while (!bytes.empty()) {
    const ssize_t n = ::write(file.descriptor.fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return failed(path_);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

void Journal::remove() {
  file_.reset();
  next_.reset();
  std::remove(path_.c_str());
  std::remove(next_path().c_str());
}

std::vector<JournaledRows> Journal::read(i64 number) {
  const auto read_file = [&](const std::string& path) {
    return read_small_file(path, static_cast<size_t>(most_bytes_)).value_or("");
  };
  std::string text = read_file(path_);
  if (!text.starts_with(header(number))) {
    text = read_file(next_path());
    if (!text.starts_with(header(number))) return {};
    // Its process was killed before it took its place. There the next one would be written over it.
    std::rename(next_path().c_str(), path_.c_str());
  }
  std::vector<JournaledRows> all;
  std::vector<SharedSchema> schemas;
  std::string_view rest = std::string_view(text).substr(header(number).size());
  constexpr size_t kFacts = 2 * sizeof(u32);
  while (rest.size() > kFacts) {
    const auto size = number_in<u32>(rest), sum = number_in<u32>(rest.substr(sizeof size));
    const std::string_view payload = rest.substr(kFacts, size);
    if (payload.size() != size || checksum(payload) != sum) break;
    rest.remove_prefix(kFacts + size);
    ByteReader in(payload);
    if (in.byte() == kSchema) {
      Result<Schema> schema = decode_schema(payload.substr(1));
      if (!schema) break;
      schemas.push_back(std::make_shared<const Schema>(std::move(*schema)));
    } else {
      if (!read_rows(in, schemas, all)) break;
    }
  }
  return all;
}

}  // namespace spotter::store
