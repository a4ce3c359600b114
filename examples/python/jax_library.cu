/* jax_library.cu - trid_batch_solve as a function that XLA calls, for jax_tridiagonal.py.
   MIT licence, see LICENSE.

   In the kit's folder (a minute):

       nvcc -std=c++17 -O3 -arch=native -Xcompiler -fPIC -shared -I. \
           -isystem "$(python3 -c 'import jax; print(jax.ffi.include_dir())')" \
           -o libtriband_jax.so examples/python/jax_library.cu

   a, b, c, d and x have the same shape, whose last axis runs along a system. status has this shape without the
   last axis. */
#include "trid/batch.h"

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

static ffi::Error solve(cudaStream_t stream, ffi::ScratchAllocator memory, ffi::AnyBuffer a, ffi::AnyBuffer b,
                        ffi::AnyBuffer c, ffi::AnyBuffer d, ffi::Result<ffi::AnyBuffer> x,
                        ffi::Result<ffi::Buffer<ffi::S32>> status, int64_t flags)
{
    const bool single = d.element_type() == ffi::F32;
    if (!single && d.element_type() != ffi::F64) return ffi::Error::InvalidArgument("neither float32 nor float64");
    for (const ffi::AnyBuffer &other : {a, b, c, static_cast<const ffi::AnyBuffer &>(*x)})
        if (other.element_type() != d.element_type() || !(other.dimensions() == d.dimensions()))
            return ffi::Error::InvalidArgument("a, b, c, d and x differ in type or shape");
    const size_t axes = d.dimensions().size();
    if (axes == 0) return ffi::Error::InvalidArgument("no axis for the systems to lie along");
    if (!(status->dimensions() == d.dimensions().first(axes - 1)))
        return ffi::Error::InvalidArgument("the shape of status is not that of d without its last axis");

    const long long n = d.dimensions().back(), systems = n ? (long long)d.element_count() / n : 0;
    const trid_lines lines = trid_lines_contiguous(n, systems);
    const long long bytes = trid_batch_scratch(lines, (int)flags, single ? 4 : 8);
    if (bytes < 0) return ffi::Error::InvalidArgument(trid_batch_status_string((int)bytes));
    void *scratch = bytes ? memory.Allocate((size_t)bytes, 16).value_or(nullptr) : nullptr;
    if (bytes && !scratch) return ffi::Error(ffi::ErrorCode::kResourceExhausted, "no memory for scratch");

    trid_batch_options options = {};
    options.flags = (int)flags, options.status = status->typed_data();
    options.scratch = scratch, options.scratch_bytes = bytes;
    const int launched = single
                             ? trid_batch_solve_f32(lines, a.typed_data<float>(), b.typed_data<float>(),
                                                    c.typed_data<float>(), d.typed_data<float>(),
                                                    x->typed_data<float>(), &options, stream)
                             : trid_batch_solve_f64(lines, a.typed_data<double>(), b.typed_data<double>(),
                                                    c.typed_data<double>(), d.typed_data<double>(),
                                                    x->typed_data<double>(), &options, stream);
    return launched ? ffi::Error::Internal(trid_batch_status_string(launched)) : ffi::Error::Success();
}

/* The launches can be captured, so XLA may record them in a CUDA graph. */
XLA_FFI_DEFINE_HANDLER_SYMBOL(triband_solve, solve,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::PlatformStream<cudaStream_t>>()
                                  .Ctx<ffi::ScratchAllocator>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::Buffer<ffi::S32>>()
                                  .Attr<int64_t>("flags"),
                              {ffi::Traits::kCmdBufferCompatible});
