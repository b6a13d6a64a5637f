// A simulated systemd-logind behind simulated `busctl` and `systemd-inhibit` programs, for tests: the test announces
// shutdowns, and they are delayed while a lock is held.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { realClock } from '../../base/time/clock.ts'
import type { Processes, RunningProcess } from '../../platform/process/processes.ts'
import { NodeLogind } from './node-logind.ts'
import type { ShutdownUnderTest } from './shutdown-contract.suite.ts'

export interface SimulatedLogind extends ShutdownUnderTest {
  /** Arguments of all calls of busctl. */
  readonly calls: readonly string[]
  /** Ends all connections to the bus, as a restart of the bus does. */
  disconnect(): void
}

/** A process that runs until it is killed. */
function simulatedProcess(onEnd: () => void): RunningProcess {
  const ended = Promise.withResolvers<number>()
  const kill = () => {
    onEnd()
    ended.resolve(143)
  }
  return { pid: 0, ended: ended.promise, kill }
}

class LogindPrograms implements Processes {
  readonly calls: string[] = []
  readonly monitors = new Map<RunningProcess, (line: string) => void>()
  readonly locks = new Set<RunningProcess>()
  readonly #configurationFile: string
  #delayUsMax: number

  constructor(configurationFile: string, delayMsMax: number) {
    this.#configurationFile = configurationFile
    this.#delayUsMax = delayMsMax * 1_000
  }

  async run(_command: string, args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    this.calls.push(args.join(' '))
    if (args.includes('get-property'))
      return { code: 0, stdout: `{"type":"t","data":${this.#delayUsMax}}\n`, stderr: '' }
    const text = await readFile(this.#configurationFile, 'utf8')
    this.#delayUsMax = Number(/^InhibitDelayMaxSec=(\d+)$/m.exec(text)?.[1] ?? 0) * 1_000_000
    return { code: 0, stdout: '', stderr: '' }
  }

  start(_command: string, args: readonly string[], _options: object, onLine: (line: string) => void): RunningProcess {
    const [, , program] = args
    if (program === 'busctl') {
      this.calls.push(args.slice(3).join(' '))
      const monitor = simulatedProcess(() => this.monitors.delete(monitor))
      this.monitors.set(monitor, onLine)
      queueMicrotask(() => onLine('Monitoring bus message stream.'))
      return monitor
    }
    const lock = simulatedProcess(() => this.locks.delete(lock))
    this.locks.add(lock)
    queueMicrotask(() => onLine('held'))
    return lock
  }
}

export async function simulatedLogind(delayMsMax: number): Promise<SimulatedLogind> {
  const directory = await mkdtemp(join(tmpdir(), 'coxswain-logind-'))
  const programs = new LogindPrograms(join(directory, '99-kubelet.conf'), delayMsMax)
  return {
    calls: programs.calls,
    shutdown: new NodeLogind({ processes: programs, clock: realClock }, { configurationDirectory: directory }),
    announce(isShuttingDown) {
      const signal = { type: 'signal', member: 'PrepareForShutdown', payload: { type: 'b', data: [isShuttingDown] } }
      for (const onLine of programs.monitors.values()) onLine(JSON.stringify(signal))
    },
    disconnect: () => [...programs.monitors.keys()].forEach((monitor) => monitor.kill('SIGTERM')),
    async isDelayed(wanted) {
      while (programs.locks.size > 0 !== wanted) await realClock.sleep(5, new AbortController().signal)
    },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  }
}
