// Selects the cluster of a command: from --kubeconfig, $KUBECONFIG, ~/.kube/config or the cluster of this machine, with
// the current context or the one of --context.
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, delimiter, dirname, join, resolve } from 'node:path'
import { hostOfUrl, isLoopbackHost } from '../../base/net/host-port.ts'
import { errorText } from '../../base/observability/log.ts'
import { KubeconfigError } from '../../client/transport/kubeconfig-access.ts'
import { selectContext, type KubeconfigContext } from '../../cluster/kubeconfig/kubeconfig-context.ts'
import { UsageError } from '../command/command.ts'
import { clusterFlagOfDirectory, dataDirectoryOf } from './data-directory-option.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Options of every command about an object of a cluster. */
export const clusterOptions = {
  namespace: { type: 'string', value: '<name>', short: 'n', help: 'the namespace (that of the context, or default)' },
  context: { type: 'string', value: '<name>', help: 'the context of the kubeconfig (its current context)' },
  kubeconfig: { type: 'string', value: '<file>', help: 'the kubeconfig ($KUBECONFIG, ~/.kube/config)' },
} as const

export interface ChosenCluster extends KubeconfigContext {
  /** The path of the kubeconfig. */
  readonly path: string
}

export async function chooseCluster(
  { kubeconfig, context }: { readonly kubeconfig?: string; readonly context?: string },
  environment: Environment,
): Promise<ChosenCluster> {
  const { path, text } = await readFirst(kubeconfig, environment)
  try {
    return { path, ...(await selectContext({ text, path, directory: dirname(resolve(path)) }, context)) }
  } catch (error) {
    throw error instanceof KubeconfigError ? new UsageError(error.message, { cause: error }) : error
  }
}

async function readFirst(named: string | undefined, environment: Environment): Promise<{ path: string; text: string }> {
  // The first existing file of $KUBECONFIG is used.
  const given = named === undefined ? (environment['KUBECONFIG'] ?? '').split(delimiter) : [named]
  const paths = given.filter((path) => path !== '')
  const isChosen = paths.length > 0
  if (!isChosen)
    paths.push(
      join(environment['HOME'] ?? homedir(), '.kube', 'config'),
      join(dataDirectoryOf({}, environment), 'admin.kubeconfig'),
    )
  for (const path of paths) {
    const text = await readFile(path, 'utf8').catch(() => undefined)
    if (text !== undefined) return { path, text }
  }
  throw new UsageError(
    isChosen
      ? `cannot read the kubeconfig ${paths.join(' or ')}`
      : `there is no kubeconfig (${paths.join(', ')}). Is a cluster running? Start one: coxswain up`,
  )
}

/** Error codes of connections that are not accepted, unlike error responses or rejected certificates. */
const unreachable = new Set(['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'ETIMEDOUT'])

/** Adds a hint to connection errors: whether the cluster is running, and how to start it. */
export async function withReachabilityHint<T>({ server, path }: ChosenCluster, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (!isUnreachable(error)) throw error
    const url = URL.parse(server)
    const isHere = url !== null && isLoopbackHost(hostOfUrl(url))
    const how = isHere ? `Start it: ${startCommand(path)}` : `Its address comes from ${path}`
    throw new Error(`cannot reach the API server ${server} (${errorText(error)}). Is it running? ${how}`, {
      cause: error,
    })
  }
}

function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code, cause } = error as Error & { readonly code?: unknown }
  return (typeof code === 'string' && unreachable.has(code)) || isUnreachable(cause)
}

/** `coxswain up` writes admin.kubeconfig to the data directory of its cluster. */
function startCommand(path: string): string {
  const directory = dirname(resolve(path))
  const flag = basename(path) === 'admin.kubeconfig' ? clusterFlagOfDirectory(directory, process.env) : ''
  return `coxswain up${flag}`
}
