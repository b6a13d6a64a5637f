// A benchmark that is ended by a signal ends the processes that it has started, and theirs.
import { readdirSync, readFileSync } from 'node:fs'

const endingSignals = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const

/** The parent of every process, by process id. */
function parents(): Map<number, number> {
  const found = new Map<number, number>()
  for (const name of readdirSync('/proc'))
    if (/^\d+$/.test(name))
      try {
        // The name of the program before the last parenthesis may contain anything.
        const fields = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ')
        found.set(Number(name), Number(fields?.[1]))
      } catch {
        // The process has ended.
      }
  return found
}

/** All processes below this one, children after their parents. */
export function descendants(ancestor: number): number[] {
  const known = [...parents()]
  const found = [ancestor]
  for (const pid of found) found.push(...known.filter(([, parent]) => parent === pid).map(([child]) => child))
  return found.slice(1)
}

export function endChildrenOnSignal(): void {
  for (const signal of endingSignals)
    process.once(signal, () => {
      for (const pid of descendants(process.pid))
        try {
          process.kill(pid, 'SIGKILL')
        } catch {
          // It ended with its parent.
        }
      // The handler is removed, so that the signal has its usual effect.
      process.kill(process.pid, signal)
    })
}
