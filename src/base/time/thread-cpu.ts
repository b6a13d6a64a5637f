// threadCpuMs: the CPU time that this thread has used. Unlike the time that has passed, it does not grow while other processes
// use the CPU, so it measures what a request costs on a busy machine too.

export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
