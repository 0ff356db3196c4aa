// gzip through ISA-L's streaming inflate. A gzip file is a row of members; each ends in a CRC and a length
// that ISA-L checks when told that the wrapper is gzip. A cut file makes ISA-L report success, so the end of
// the last member is checked here. Zero bytes behind a member are padding; other bytes are ignored with a
// note, as gzip does. The header is read by a call of its own: isal_inflate() reads one too, but forgets its
// flags when the header comes in pieces (seen in ISA-L 2.30).
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cstring>

#include "read/source.h"

namespace spotter::read {
namespace {

class GzipSource final : public Source {
 public:
  explicit GzipSource(RawInput& input) : input_(input), state_(std::make_unique<inflate_state>()) {
    begin_member();
  }

  Result<size_t> read(std::span<char> out, Notes& notes) override {
    size_t done = 0;
    while (done < out.size() && !ended_) {
      const bool between = state_->block_state == ISAL_BLOCK_FINISH;
      TRY_ASSIGN(const std::span<const u8> in, input_.peek(between ? 2 : 1));
      if (between) {
        next_member(in, notes);
        continue;
      }
      if (in.empty()) {
        notes.add("truncated_gzip", Severity::loss,
                  "the gzip data ends early; what follows is missing (the copy or the writer was cut off)",
                  text_bytes_);
        ended_ = true;
        break;
      }
      const size_t n = inflate(in, out.subspan(done), notes);
      done += n;
      text_bytes_ += static_cast<i64>(n);
    }
    return ended_ ? done + take_inflated(out.subspan(done)) : done;
  }

 private:
  void begin_member() {
    isal_inflate_init(state_.get());
    state_->crc_flag = ISAL_GZIP_NO_HDR_VER;
    isal_gzip_header_init(&header_);
    in_header_ = true;
  }

  void next_member(std::span<const u8> in, Notes& notes) {
    if (const size_t zeros = leading_zeros(in); zeros > 0) {
      input_.use(zeros);
      return;
    }
    ended_ = true;
    if (in.empty()) return;
    if (in[0] == 0x1F && (in.size() < 2 || in[1] == 0x8B)) {
      begin_member();
      ended_ = false;
    } else {
      notes.add("gzip_trailer", Severity::info, "bytes behind the gzip data were ignored", text_bytes_);
    }
  }

  size_t inflate(std::span<const u8> in, std::span<char> out, Notes& notes) {
    state_->next_in = const_cast<u8*>(in.data());  // ISA-L does not write there
    state_->avail_in = static_cast<u32>(in.size());
    state_->next_out = reinterpret_cast<u8*>(out.data());
    state_->avail_out = static_cast<u32>(std::min(out.size(), size_t{1} << 30));
    const u32 room = state_->avail_out;
    const int status =
        in_header_ ? isal_read_gzip_header(state_.get(), &header_) : isal_inflate(state_.get());
    if (status == ISAL_DECOMP_OK) in_header_ = false;
    input_.use(in.size() - state_->avail_in);
    const size_t made = room - state_->avail_out;
    if (status == ISAL_DECOMP_OK || status == ISAL_END_INPUT || status == ISAL_OUT_OVERFLOW) return made;
    ended_ = true;
    const i64 at = text_bytes_ + static_cast<i64>(made) + state_->tmp_out_valid - state_->tmp_out_processed;
    if (status == ISAL_INCORRECT_CHECKSUM) {
      notes.add("gzip_checksum", Severity::loss,
                "the gzip checksum does not match: the file is damaged and values may be wrong", at);
    } else {
      notes.add("corrupt_gzip", Severity::loss,
                "the gzip data is damaged; nothing behind this place could be read", at);
    }
    return made;
  }

  // ISA-L inflates ahead into a buffer of its own. Where it then meets damage it does not hand that out.
  size_t take_inflated(std::span<char> out) {
    const size_t ahead = static_cast<size_t>(state_->tmp_out_valid - state_->tmp_out_processed);
    const size_t n = std::min(ahead, out.size());
    std::memcpy(out.data(), state_->tmp_out_buffer + state_->tmp_out_processed, n);
    state_->tmp_out_processed += static_cast<i32>(n);
    return n;
  }

  RawInput& input_;
  std::unique_ptr<inflate_state> state_;
  isal_gzip_header header_;
  bool in_header_;
  i64 text_bytes_ = 0;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<Source> gzip_source(RawInput& input) { return std::make_unique<GzipSource>(input); }

}  // namespace spotter::read
