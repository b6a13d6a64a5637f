// startBound: starts a program that does not outlive this process: the kernel ends it when this process is killed.
import type { Processes, RunningProcess } from '../../platform/process/processes.ts'

export const startBound = (
  processes: Pick<Processes, 'start'>,
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  onLine: (line: string) => void,
): RunningProcess => processes.start('setpriv', ['--pdeathsig', 'TERM', command, ...args], { environment }, onLine)
