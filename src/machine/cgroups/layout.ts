// CgroupLayout: where one version of the kernel's interface keeps what, as texts in files. Pure: the driver reads and writes.
import type { CgroupLimits, CgroupUsage } from './cgroups.ts'

export interface CgroupFile {
  readonly hierarchy: string
  readonly name: string
}

/** Reads a file of one group; undefined when there is none. */
export type ReadFile = (file: CgroupFile) => Promise<string | undefined>

export interface CgroupLayout {
  /** Folders below the root in which a group is made; `''`: the root itself is the one hierarchy. */
  readonly hierarchies: readonly string[]
  /** Written into every group above a new one, from the root on, so that it has the controllers. */
  readonly delegation: { readonly name: string; readonly text: string } | undefined
  writes(limits: CgroupLimits): readonly (CgroupFile & { readonly text: string })[]
  limits(read: ReadFile): Promise<CgroupLimits>
  usage(read: ReadFile): Promise<CgroupUsage>
}

export const numberIn = (text: string | undefined): number => {
  const value = Number((text ?? '').trim() || Number.NaN)
  return Number.isFinite(value) ? value : 0
}

/** Lines of `key value`. */
export const valuesIn = (text: string | undefined): ReadonlyMap<string, number> =>
  new Map(
    (text ?? '').split('\n').flatMap((line) => {
      const [key = '', value] = line.split(' ')
      return value === undefined ? [] : [[key, Number(value)] as const]
    }),
  )

const hugepageUnits = ['B', 'KB', 'MB', 'GB'] as const

/** As the kernel names sizes of pages: 2097152 → `2MB`. */
export function hugepageSize(bytes: number): string {
  const unit = Math.min(hugepageUnits.length - 1, Math.floor(Math.log2(bytes) / 10))
  return `${bytes / 1024 ** unit}${hugepageUnits[unit] ?? ''}`
}
