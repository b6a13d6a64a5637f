// runIpBatch: commands for `ip` or `bridge` in one process. A command that fails does not keep the others from being executed.
import { assert } from '../../base/assert.ts'
import type { CommandText } from '../../base/net/command-text.ts'
import type { Processes } from '../../platform/process/processes.ts'

export interface BatchResult {
  readonly stdout: string
  /** Messages of commands that failed, by their index. */
  readonly failures: ReadonlyMap<number, string>
}

/** `options` are those of the program. Fails if the program does not run. */
export async function runIpBatch(
  program: 'bridge' | 'ip',
  commands: readonly CommandText[],
  { processes, options = [] }: { readonly processes: Pick<Processes, 'run'>; readonly options?: readonly '-j'[] },
  signal: AbortSignal,
): Promise<BatchResult> {
  if (commands.length === 0) return { stdout: '', failures: new Map() }
  assert(
    commands.every((command) => !command.includes('\n')),
    'a command is one line',
  )
  const input = `${commands.join('\n')}\n`
  const { code, stdout, stderr } = await processes.run(
    program,
    [...options, '-force', '-batch', '-'],
    { input },
    signal,
  )
  const { failures, rest } = failuresIn(stderr)
  if (code !== 0 && (failures.size === 0 || rest !== '')) throw new Error(`${program} -batch: ${stderr.trim()}`)
  return { stdout, failures }
}

/** As `runIpBatch`, for commands that must all succeed. */
export async function requireIpBatch(...args: Parameters<typeof runIpBatch>): Promise<void> {
  const [program] = args
  const { failures } = await runIpBatch(...args)
  for (const message of failures.values()) throw new Error(`${program} -batch: ${message}`)
}

/**
 * `RTNETLINK answers: No such process`, and then `Command failed -:3` with the number of the line. Text after the last of them
 * is the reason why the program ended before the last command.
 */
function failuresIn(stderr: string): { readonly failures: ReadonlyMap<number, string>; readonly rest: string } {
  const failures = new Map<number, string>()
  let message: string[] = []
  for (const line of stderr.split('\n')) {
    const number = /^Command failed -:(\d+)$/.exec(line.trim())?.[1]
    if (number === undefined) message.push(line.trim())
    else {
      failures.set(Number(number) - 1, message.filter((each) => each !== '').join(' '))
      message = []
    }
  }
  return { failures, rest: message.join('') }
}
