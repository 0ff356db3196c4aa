// zstd through libzstd's streaming decoder; any number of frames in a row. Zero bytes behind one are padding,
// as behind gzip's members.
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>

#include "read/source.h"

namespace spotter::read {
namespace {

class ZstdSource final : public Source {
 public:
  explicit ZstdSource(RawInput& input) : input_(input), stream_(ZSTD_createDStream()) {
    ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, 31);  // files written with --long=31
  }
  ~ZstdSource() override { ZSTD_freeDStream(stream_); }
  ZstdSource(const ZstdSource&) = delete;
  ZstdSource& operator=(const ZstdSource&) = delete;

  Result<size_t> read(std::span<char> out, Notes& notes) override {
    // In small steps: at an error libzstd keeps back all that the failing call has decoded.
    constexpr size_t kStep = size_t{16} << 10;
    ZSTD_outBuffer to{out.data(), 0, 0};
    while (to.pos < out.size() && !ended_) {
      to.size = std::min(out.size(), to.pos + kStep);
      TRY_ASSIGN(const std::span<const u8> in, input_.peek());
      const bool input_over = in.empty();
      if (frame_done_ && input_over) {
        ended_ = true;
        break;
      }
      if (frame_done_ && in[0] == 0) {
        input_.use(leading_zeros(in));
        continue;
      }
      ZSTD_inBuffer from{in.data(), in.size(), 0};
      const size_t before = to.pos;
      const size_t status = ZSTD_decompressStream(stream_, &to, &from);
      input_.use(from.pos);
      text_bytes_ += static_cast<i64>(to.pos - before);
      if (ZSTD_getErrorCode(status) == ZSTD_error_memory_allocation)
        return fail(Code::io, "{}: there is not enough memory for the window of its zstd data",
                    input_.path());
      if (ZSTD_isError(status)) {
        ended_ = true;
        notes.add("corrupt_zstd", Severity::loss,
                  "the zstd data is damaged; nothing behind this place could be read", text_bytes_);
      } else if (input_over && to.pos == before) {
        ended_ = true;
        notes.add("truncated_zstd", Severity::loss,
                  "the zstd data ends early; what follows is missing (the copy or the writer was cut off)",
                  text_bytes_);
      }
      frame_done_ = status == 0;
    }
    return to.pos;
  }

 private:
  RawInput& input_;
  ZSTD_DStream* stream_;
  i64 text_bytes_ = 0;
  bool frame_done_ = false, ended_ = false;
};

}  // namespace

std::unique_ptr<Source> zstd_source(RawInput& input) { return std::make_unique<ZstdSource>(input); }

}  // namespace spotter::read
