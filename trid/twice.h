/* twice.h - includes a body twice, once for each precision. TB_BODY names the body's file, relative to this folder.
   trid.h and transpose.h, which include nothing of the kit, have such lines of their own. MIT licence, see LICENSE. */
#ifdef TB_BODY
#ifdef __cplusplus
extern "C++" {
inline namespace tb_f32
{
#endif
#undef TB_SUFFIX
#define TB_SUFFIX _f32
#define tb_real float
#define TB_BYTES 4
#include TB_BODY
#undef tb_real
#undef TB_BYTES
#ifdef __cplusplus
}
inline namespace tb_f64
{
#endif
#undef TB_SUFFIX
#define TB_SUFFIX _f64
#define tb_real double
#define TB_BYTES 8
#include TB_BODY
#undef tb_real
#undef TB_BYTES
#undef TB_SUFFIX
#define TB_SUFFIX
#ifdef __cplusplus
}
}
#endif
#undef TB_BODY
#endif /* TB_BODY */
