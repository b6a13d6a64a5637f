// threadCpuMs: the CPU time that this thread has used. Unlike the time that has passed, it does not grow while other processes
// use the CPU, so it measures what a request costs on a busy machine too.

type ThreadCpuUsage = () => { readonly user: number; readonly system: number }

const { threadCpuUsage } = process as { readonly threadCpuUsage?: ThreadCpuUsage }

export function threadCpuMs(): number {
  if (threadCpuUsage === undefined) return performance.now()
  const { user, system } = threadCpuUsage()
  return (user + system) / 1_000
}
