// cgroup v2: one hierarchy for all controllers; weights instead of shares, `max` for unlimited.
import type { CgroupFile, CgroupLayout } from './layout.ts'
import { numberIn, valuesIn } from './layout.ts'

const defaultPeriodUs = 100_000
const defaultShares = 1_024
const sharesMin = 2
const sharesMax = 262_144
const weightMin = 1
const weightMax = 10_000

/** Converts shares (v1) to a weight (v2). */
export const weightOf = (shares: number): number =>
  weightMin + Math.floor(((clamped(shares) - sharesMin) * (weightMax - weightMin)) / (sharesMax - sharesMin))

/** The smallest number of shares with this weight. */
export const sharesOf = (weight: number): number =>
  sharesMin + Math.ceil(((weight - weightMin) * (sharesMax - sharesMin)) / (weightMax - weightMin))

const clamped = (shares: number): number => Math.min(sharesMax, Math.max(sharesMin, shares))

const file = (name: string): CgroupFile => ({ hierarchy: '', name })

export const cgroupLayoutV2: CgroupLayout = {
  hierarchies: [''],
  delegation: { name: 'cgroup.subtree_control', text: '+cpu +memory +pids +hugetlb' },
  writes: ({ cpuShares, cpuPeriodUs, cpuQuotaUs, memoryBytes, hugepageBytes = {} }) => [
    { ...file('cpu.weight'), text: String(weightOf(cpuShares ?? defaultShares)) },
    { ...file('cpu.max'), text: `${cpuQuotaUs ?? 'max'} ${cpuPeriodUs ?? defaultPeriodUs}` },
    { ...file('memory.max'), text: String(memoryBytes ?? 'max') },
    ...Object.entries(hugepageBytes).map(([size, bytes]) => ({ ...file(`hugetlb.${size}.max`), text: String(bytes) })),
  ],
  async limits(read) {
    const [weight, max, memory] = await Promise.all(
      ['cpu.weight', 'cpu.max', 'memory.max'].map((name) => read(file(name))),
    )
    const [quota, period] = (max ?? '').trim().split(' ')
    const memoryBytes = numberIn(memory)
    return {
      cpuShares: sharesOf(numberIn(weight)),
      ...(numberIn(quota) > 0 ? { cpuPeriodUs: numberIn(period), cpuQuotaUs: numberIn(quota) } : {}),
      ...(memoryBytes > 0 ? { memoryBytes } : {}),
    }
  },
  async usage(read) {
    const [cpu, memory, stat, swap, processes] = await Promise.all(
      ['cpu.stat', 'memory.current', 'memory.stat', 'memory.swap.current', 'pids.current'].map((name) =>
        read(file(name)),
      ),
    )
    const values = valuesIn(stat)
    const memoryBytes = numberIn(memory)
    return {
      cpuNanos: (valuesIn(cpu).get('usage_usec') ?? 0) * 1_000,
      memoryBytes,
      workingSetBytes: Math.max(0, memoryBytes - (values.get('inactive_file') ?? 0)),
      rssBytes: values.get('anon') ?? 0,
      pageFaults: values.get('pgfault') ?? 0,
      majorPageFaults: values.get('pgmajfault') ?? 0,
      swapBytes: numberIn(swap),
      processes: numberIn(processes),
    }
  },
}
