#include "base/gzip_writer.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/types.h"

namespace spotter {

struct GzipWriter::State {
  isal_zstream stream;
  std::vector<u8> level;
  std::array<char, size_t{64} << 10> out;
};

GzipWriter::GzipWriter(Sink sink, For what) : sink_(std::move(sink)), state_(std::make_unique<State>()) {
  const bool is_small = what == For::size;
  state_->level.resize(is_small ? ISAL_DEF_LVL3_DEFAULT : ISAL_DEF_LVL1_DEFAULT);
  isal_zstream& stream = state_->stream;
  isal_deflate_init(&stream);
  stream.gzip_flag = IGZIP_GZIP;
  stream.level = is_small ? 3 : 1;
  stream.flush = is_small ? SYNC_FLUSH : NO_FLUSH;
  stream.level_buf = state_->level.data();
  stream.level_buf_size = static_cast<u32>(state_->level.size());
}

GzipWriter::~GzipWriter() = default;

Result<void> GzipWriter::write(std::string_view bytes) {
  // ISA-L counts in 32 bits. A flush begins a new code: pieces of one kind, such as planes of numbers, have
  // their own.
  const size_t most = size_t{1} << (state_->stream.flush == SYNC_FLUSH ? 14 : 30);
  for (; !bytes.empty(); bytes.remove_prefix(std::min(most, bytes.size())))
    TRY(deflate(bytes.substr(0, most), false));
  return {};
}

Result<void> GzipWriter::finish() { return deflate({}, true); }

Result<void> GzipWriter::deflate(std::string_view bytes, bool last) {
  isal_zstream& stream = state_->stream;
  // ISA-L does not write there.
  stream.next_in = reinterpret_cast<u8*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<u32>(bytes.size());
  stream.end_of_stream = last;
  do {
    stream.next_out = reinterpret_cast<u8*>(state_->out.data());
    stream.avail_out = static_cast<u32>(state_->out.size());
    CHECK(isal_deflate(&stream) == COMP_OK);  // it fails only where the stream is set up wrongly
    const size_t made = state_->out.size() - stream.avail_out;
    if (made > 0) TRY(sink_({state_->out.data(), made}));
  } while (last ? stream.internal_state.state != ZSTATE_END : stream.avail_in > 0);
  return {};
}

Result<std::string> gzipped(std::string_view text, GzipWriter::For what) {
  std::string bytes;
  GzipWriter writer(
      [&](std::span<const char> piece) -> Result<void> {
        bytes.append(piece.data(), piece.size());
        return {};
      },
      what);
  TRY(writer.write(text));
  TRY(writer.finish());
  return bytes;
}

Result<std::string> gunzipped(std::string_view bytes) {
  inflate_state state;
  isal_inflate_init(&state);
  state.crc_flag = ISAL_GZIP;
  std::string text;
  std::vector<char> out(size_t{1} << 20);
  constexpr size_t kMost = size_t{1} << 30;  // ISA-L counts in 32 bits
  do {
    if (state.avail_in == 0) {
      const std::string_view part = bytes.substr(0, kMost);
      state.next_in = reinterpret_cast<u8*>(const_cast<char*>(part.data()));
      state.avail_in = static_cast<u32>(part.size());
      bytes.remove_prefix(part.size());
    }
    state.next_out = reinterpret_cast<u8*>(out.data());
    state.avail_out = static_cast<u32>(out.size());
    const bool is_over = state.avail_in == 0;
    if (isal_inflate(&state) != ISAL_DECOMP_OK ||
        (is_over && state.avail_out == out.size() && state.block_state != ISAL_BLOCK_FINISH))
      return fail(Code::corrupt, "the packed bytes are damaged");
    text.append(out.data(), out.size() - state.avail_out);
  } while (state.block_state != ISAL_BLOCK_FINISH);
  return text;
}

}  // namespace spotter
