#include "trace/facts/tensor_cores.h"

#include <gtest/gtest.h>

namespace spotter::trace {
namespace {

TEST(TensorCores, KernelsByName) {
  constexpr TensorCores kNo = TensorCores::no, kYes = TensorCores::yes, kUnknown = TensorCores::unknown;
  const struct {
    const char* name;
    TensorCores answer;
  } cases[] = {
      // Volta, Turing, Ampere.
      {"volta_h884gemm_128x128_ldg8_tn", kYes},
      {"volta_fp16_s884cudnn_fp16_256x64_ldg8_relu_f2f_exp_small_nhwc_tn_v1", kYes},
      {"volta_sgemm_128x64_nn", kNo},
      {"volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1", kNo},
      {"turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_tn", kYes},
      {"turing_something_else", kUnknown},
      {"ampere_sgemm_128x32_nn", kNo},
      {"ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_tn", kYes},
      {"ampere_gcgemm_64x64_nt", kUnknown},
      {"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x64_32x6_nn_align4>()", kYes},
      {"void cutlass::Kernel<cutlass_80_tensorop_d884gemm_128x64_16x3_nn_align1>()", kYes},
      {"void cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>()", kNo},
      {"sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x128x32", kYes},
      {"sm86_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_tilesize128x128x8_g1_ffma_aligna4_alignc4", kNo},
      {"void at::native::tinygemm_m16n8k16_chunk_kernel<at::native::ALayout_RM<>>()", kYes},
      {"ampere_int8_i16832gemm_int8_128x128_ldg16_relu_stages_64x3_tn", kYes},
      // Hopper, Blackwell.
      {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_cublas", kYes},
      {"nvjet_tst_192x8_64x8_4x1_v_bz_TNT", kYes},
      {"void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cutlass::gemm::collective::"
       "CollectiveMma<cutlass::gemm::MainloopSm90TmaGmmaWarpSpecialized<4>>>>()",
       kYes},
      {"cutlass3x_sm100_tensorop_s256x128x16gemm_bf16", kYes},
      {"bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16_m128x16x32_dynBatch_sm100f", kYes},
      // Attention.
      {"void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64>>()", kYes},
      {"void pytorch_flash::flash_bwd_dot_do_o_kernel<true>()", kNo},
      {"void flash::flash_bwd_convert_dq_kernel<64>()", kNo},
      {"void flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<64>()", kYes},
      {"void flash::flash_fwd_splitkv_combine_kernel<64>()", kNo},
      {"void flash::flash_fwd_splitkv_kernel<64>()", kYes},
      {"void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<64>>>()", kYes},
      {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128", kYes},
      {"fmha_cutlassF_f16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<>)", kYes},
      {"fmha_cutlassF_f32_aligned_64x64_rf_sm75(PyTorchMemEffAttention::AttentionKernel<>)", kUnknown},
      {"fmha_cutlassF_f16_aligned_64x64_rf_sm50(PyTorchMemEffAttention::AttentionKernel<>)", kNo},
      {"fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128PersistentContext", kYes},
      {"void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16>()", kNo},
      {"void vllm::paged_attention_v1_kernel<c10::Half>()", kNo},
      {"kernel_unified_attention_2d", kYes},
      {"my_attention", kUnknown},
      // AMD.
      {"Cijk_Ailk_Bjlk_BBS_BH_Bias_HAS_SAV_UserArgs_MT64x32x64_MI16x16x1_SN_LDSB0", kYes},
      {"Cijk_Ailk_Bljk_SB_MT128x64x8_SE_APM1_AF0EM1", kNo},
      {"_ZN2ck16tensor_operation6device12_GLOBAL__N_139kernel_grouped_conv_fwd_xdl_cshuffle_v3I", kYes},
      {"igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt64x128x32", kYes},
      {"igemm_fwd_gtc_nchw_fp32_bt32x32x32", kUnknown},
      {"_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipelineOnePassI", kNo},
      {"paged_attention_ll4mi_QKV_mfma16_kernel", kYes},
      {"SubTensorOpWithScalar1d", kNo},
      {"batched_transpose_16x32_half", kNo},
      // Triton.
      {"triton_poi_fused__unsafe_view_mul_silu_2", kNo},
      {"triton_red_fused_addmm_mean_0", kNo},
      {"triton_tem_fused_mm_0", kUnknown},
      {"_matmul_ogs_NNT_bf16xbf16xmxfp4_128x128x128x1_swiglu", kYes},
      {"fused_layernorm_linear", kUnknown},
      {"matmul_transpose", kUnknown},
      {"triton__0d1d2d", kUnknown},
      // No products of matrices.
      {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>()", kNo},
      {"void at::native::(anonymous namespace)::conv_depthwise2d_forward_kernel<3>()", kNo},
      {"void cudnn::bn_fw_tr_1C11_singleread<float, 512, true, 1, 2, 0>()", kNo},
      {"void gemv2T_kernel_val<int, int, float, float, float, float, 128, 16, 4, 4>()", kNo},
      {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL", kNo},
      {"summary_statistics", kUnknown},
      {"", kUnknown},
  };
  for (const auto& c : cases)
    EXPECT_STREQ(tensor_cores_name(tensor_cores(c.name)), tensor_cores_name(c.answer)) << c.name;
}

}  // namespace
}  // namespace spotter::trace
