// cgroup v1: one hierarchy per controller; limits in bytes and microseconds, -1 for unlimited.
import type { CgroupFile, CgroupLayout } from './layout.ts'
import { numberIn, valuesIn } from './layout.ts'

/** The kernel shows about 2^63 for unlimited, rounded down to whole pages. */
const memoryUnlimited = 2 ** 62
const defaultPeriodUs = 100_000
const defaultShares = 1_024

const file = (name: string): CgroupFile => ({ hierarchy: name.split('.')[0] ?? '', name })
const cpuUsage: CgroupFile = { hierarchy: 'cpuacct', name: 'cpuacct.usage' }

export const cgroupLayoutV1: CgroupLayout = {
  hierarchies: ['cpu', 'cpuacct', 'memory', 'pids', 'hugetlb'],
  delegation: undefined,
  writes: ({ cpuShares, cpuPeriodUs, cpuQuotaUs, memoryBytes, hugepageBytes = {} }) => [
    { ...file('cpu.shares'), text: String(cpuShares ?? defaultShares) },
    { ...file('cpu.cfs_period_us'), text: String(cpuPeriodUs ?? defaultPeriodUs) },
    { ...file('cpu.cfs_quota_us'), text: String(cpuQuotaUs ?? -1) },
    { ...file('memory.limit_in_bytes'), text: String(memoryBytes ?? -1) },
    ...Object.entries(hugepageBytes).map(([size, bytes]) => ({
      ...file(`hugetlb.${size}.limit_in_bytes`),
      text: String(bytes),
    })),
  ],
  async limits(read) {
    const [shares, period, quota, memory] = await Promise.all(
      ['cpu.shares', 'cpu.cfs_period_us', 'cpu.cfs_quota_us', 'memory.limit_in_bytes'].map((name) => read(file(name))),
    )
    const quotaUs = numberIn(quota)
    const memoryBytes = numberIn(memory)
    return {
      cpuShares: numberIn(shares),
      ...(quotaUs > 0 ? { cpuPeriodUs: numberIn(period), cpuQuotaUs: quotaUs } : {}),
      ...(memoryBytes > 0 && memoryBytes < memoryUnlimited ? { memoryBytes } : {}),
    }
  },
  async usage(read) {
    const [cpu, memory, stat, processes] = await Promise.all([
      read(cpuUsage),
      read(file('memory.usage_in_bytes')),
      read(file('memory.stat')),
      read(file('pids.current')),
    ])
    const values = valuesIn(stat)
    const memoryBytes = numberIn(memory)
    return {
      cpuNanos: numberIn(cpu),
      memoryBytes,
      workingSetBytes: Math.max(0, memoryBytes - (values.get('total_inactive_file') ?? 0)),
      rssBytes: values.get('total_rss') ?? 0,
      pageFaults: values.get('total_pgfault') ?? 0,
      majorPageFaults: values.get('total_pgmajfault') ?? 0,
      swapBytes: values.get('total_swap') ?? 0,
      processes: numberIn(processes),
    }
  },
}
