// The options of components in their own process: how they reach the API server, and how much they log.
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { createLog, type Log } from '../../base/observability/log.ts'
import { realClock } from '../../base/time/clock.ts'
import { selectContext } from '../../cluster/kubeconfig/kubeconfig-context.ts'
import { UsageError, type CommandOption, type Terminal } from '../command/command.ts'

export const kubeconfigOption = {
  kubeconfig: { type: 'string', value: '<file>', help: 'the kubeconfig of the API server ($KUBECONFIG)' },
} as const satisfies Record<string, CommandOption>

export const verboseOption = {
  verbose: { type: 'boolean', short: 'v', help: 'log more' },
} as const satisfies Record<string, CommandOption>

/** The text of the kubeconfig that the option or the environment names, with absolute paths. */
export async function readKubeconfig(
  named: string | undefined,
  { environment }: Pick<Terminal, 'environment'>,
): Promise<string> {
  const path = named ?? environment['KUBECONFIG']
  if (path === undefined) throw new UsageError('name a kubeconfig with --kubeconfig or $KUBECONFIG')
  const text = await readOptionFile('the kubeconfig', path)
  return (await selectContext({ text, path, directory: dirname(resolve(path)) })).kubeconfig
}

/** `what` names the file in the error. */
export async function readOptionFile(what: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new UsageError(`cannot read ${what} ${path}`, { cause: error })
  }
}

export const componentLog = (
  isVerbose: boolean | undefined,
  { err, isTerminal }: Pick<Terminal, 'err' | 'isTerminal'>,
): Log =>
  createLog({
    clock: realClock,
    write: err,
    format: isTerminal ? 'text' : 'json',
    level: isVerbose === true ? 'debug' : 'info',
  })

/** Turns an error about the value of a flag into one about the usage of the command. */
export function asUsage<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error })
  }
}

const portMax = 65_535

export function portOption(option: string, text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > portMax)
    throw new UsageError(`--${option} ${JSON.stringify(text)} is not a number from 0 to ${portMax}`)
  return port
}
