// Resource usage of a process as the kernel reports it.
import { readFileSync } from 'node:fs'

/** The processor time of a process in milliseconds: more reliable than elapsed time on a busy machine. */
export function processorMs(pid: number | undefined): number {
  if (pid === undefined) return 0
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** By the kernel's names: all resident memory, or a part of it. */
export const memoryMb = (pid: number, which: 'VmRSS' | 'RssAnon' = 'VmRSS'): number =>
  Number(new RegExp(`${which}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
