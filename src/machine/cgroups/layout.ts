// CgroupLayout: the files and formats of one cgroup version. It performs no I/O.
import type { CgroupLimits, CgroupUsage } from './cgroups.ts'

export interface CgroupFile {
  readonly hierarchy: string
  readonly name: string
}

/** Reads a file of a cgroup; undefined when it does not exist. */
export type ReadFile = (file: CgroupFile) => Promise<string | undefined>

export interface CgroupLayout {
  /** Directories below the mount in which a cgroup is created; `''` for the unified hierarchy. */
  readonly hierarchies: readonly string[]
  /** Written to every parent of a new cgroup, from the root down, to enable the controllers. */
  readonly delegation: { readonly name: string; readonly text: string } | undefined
  writes(limits: CgroupLimits): readonly (CgroupFile & { readonly text: string })[]
  limits(read: ReadFile): Promise<CgroupLimits>
  usage(read: ReadFile): Promise<CgroupUsage>
}

export const numberIn = (text: string | undefined): number => {
  const value = Number((text ?? '').trim() || Number.NaN)
  return Number.isFinite(value) ? value : 0
}

/** Parses lines of `key value`. */
export const valuesIn = (text: string | undefined): ReadonlyMap<string, number> =>
  new Map(
    (text ?? '').split('\n').flatMap((line) => {
      const [key = '', value] = line.split(' ')
      return value === undefined ? [] : [[key, Number(value)] as const]
    }),
  )

const hugepageUnits = ['B', 'KB', 'MB', 'GB'] as const

/** The kernel's name of a huge page size: 2097152 → `2MB`. */
export function hugepageSize(bytes: number): string {
  const unit = Math.min(hugepageUnits.length - 1, Math.floor(Math.log2(bytes) / 10))
  return `${bytes / 1024 ** unit}${hugepageUnits[unit] ?? ''}`
}
