#include "base/zstd_frame.h"

#include <zstd.h>

#include <memory>

#include "base/result.h"

namespace spotter {

std::string zstd_frame(std::string_view bytes, int level) {
  thread_local const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                                ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compress2(context.get(), out.data(), out.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(size)) end_process("out of memory: zstd");
  out.resize(size);
  return out;
}

std::optional<std::string> from_zstd_frame(std::string_view frame, size_t most) {
  const unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > most) return {};
  thread_local const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(),
                                                                                ZSTD_freeDCtx);
  std::string out(size, '\0');
  if (ZSTD_decompressDCtx(context.get(), out.data(), out.size(), frame.data(), frame.size()) != size)
    return {};
  return out;
}

}  // namespace spotter
