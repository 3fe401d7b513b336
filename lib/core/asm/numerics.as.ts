// exp and ln in double precision. AssemblyScript's NativeMath is a port of musl and compiles to plain
// f64 add, mul, div and table loads: no fused multiply-add, no host function, hence the same bits on every CPU.
// The training kernels import this file, so that there is one definition.
export function exp(x: f64): f64 {
  return NativeMath.exp(x);
}
export function ln(x: f64): f64 {
  return NativeMath.log(x);
}
