// `up --detach`: runs the same command in the background, and waits until it serves, or until its nodes are ready.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { durationMs, realClock } from '../../base/time/clock.ts'
import { outputName } from '../../cluster/data-directory/directory-contents.ts'
import { connect } from '../../cluster/client/connect.ts'
import type { CommandOption, Terminal } from '../command/command.ts'
import { runningProgram } from '../command/own-program.ts'
import { asUsage } from '../options/component-options.ts'
import { startDetached } from './start-detached.ts'
import { printedLater } from './start-report.ts'
import { waitUntilReady, type Expected } from './wait-until-ready.ts'

const timeoutDefault = '2m'

export const detachOptions = {
  detach: {
    type: 'boolean',
    short: 'd',
    help: 'run in the background and return when the API is ready; coxswain down ends it, its output is up.log in the data directory',
  },
  wait: {
    type: 'boolean',
    help: 'with --detach: return when the nodes are ready and pods can be created, or fail with what is missing',
  },
  'wait-timeout': { type: 'string', value: '<duration>', help: `how long --wait waits (${timeoutDefault})` },
} as const satisfies Record<string, CommandOption>

type Values = Readonly<Record<string, string | boolean | undefined>>

export interface DetachedCluster {
  readonly dataDirectory: string
  /** With which other commands find the cluster. */
  readonly flag: string
  /** How many nodes it starts. */
  readonly nodes: number
}

/** The options as arguments, without those of the detachment. */
export const undetachedArguments = (options: Values): string[] =>
  Object.entries(options).flatMap(([name, value]) =>
    Object.hasOwn(detachOptions, name) || value === undefined || value === false
      ? []
      : [value === true ? `--${name}` : `--${name}=${value}`],
  )

export interface DetachDeps {
  readonly start: typeof startDetached
  /** Everything in the file with the output. */
  output(logPath: string): Promise<string>
  /** What the cluster of a kubeconfig lacks after the timeout. */
  missing(
    kubeconfig: string,
    expected: Expected & { readonly timeoutMs: number },
    signal: AbortSignal,
  ): Promise<readonly string[]>
}

const ownDeps: DetachDeps = {
  start: startDetached,
  output: (logPath) => readFile(logPath, 'utf8'),
  async missing(kubeconfig, expected, signal) {
    await using connection = await connect(kubeconfig, { name: 'coxswain up', signal })
    return await waitUntilReady(connection.client, expected, realClock, signal)
  },
}

/** `options` are those of the command, which were checked: mistakes are reported in the foreground. */
export async function runDetached(
  options: Values,
  { dataDirectory, flag, nodes }: DetachedCluster,
  { out, signal }: Pick<Terminal, 'out' | 'signal'>,
  deps: DetachDeps = ownDeps,
): Promise<number> {
  const timeout = String(options['wait-timeout'] ?? timeoutDefault)
  const timeoutMs = asUsage(() => durationMs(timeout))
  const logPath = join(dataDirectory, outputName)
  const sinceMs = realClock.nowMs()
  const program = [...runningProgram(), 'up', ...undetachedArguments(options)]
  const { pid, report } = await deps.start(program, logPath, signal)
  const how = `It runs in the background as process ${pid}; its output is in ${logPath}. End it: coxswain down${flag}`
  out(`${report}\n\n`)
  if (options['wait'] === true) {
    const kubeconfig = join(dataDirectory, 'admin.kubeconfig')
    const missing = await deps.missing(kubeconfig, { nodes, sinceMs, timeoutMs }, signal)
    if (missing.length > 0) throw new Error(`not ready after ${timeout}: ${missing.join('; ')}.\n${how}`)
    const seconds = ((realClock.nowMs() - sinceMs) / 1_000).toFixed(1)
    // Which node runs is known now, also that simulated nodes replace one that cannot start containers.
    const later = printedLater(await deps.output(logPath))
    if (later !== '') out(`${later}\n`)
    if (nodes > 0) out(`${nodes} ${nodes === 1 ? 'node is' : 'nodes are'} ready after ${seconds} s\n`)
  }
  out(`${how}\n`)
  return 0
}
