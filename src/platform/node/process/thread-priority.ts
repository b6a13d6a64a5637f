// lowerThreadPriority: the scheduler of the operating system prefers the other threads of the process.
import { getPriority, setPriority } from 'node:os'

const step = 10
/** The lowest priority of the operating system. */
const niceMax = 19

/** For a thread whose work can wait. Only Linux has a priority for each thread; elsewhere this has no effect. */
export function lowerThreadPriority(platform: NodeJS.Platform = process.platform): void {
  if (platform === 'linux') setPriority(Math.min(getPriority() + step, niceMax))
}
