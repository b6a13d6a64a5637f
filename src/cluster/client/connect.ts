// connect(): the typed client of a test's cluster, for any cluster. An operator that was tested with startCluster() runs
// with it unchanged.
import { homedir } from 'node:os'
import { checkProperties } from '../../base/check-arguments.ts'
import { realClock, type Clock } from '../../base/time/clock.ts'
import { Client } from '../../client/client.ts'
import { KubeconfigError } from '../../client/transport/kubeconfig-access.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { selectContext, type KubeconfigSource } from '../kubeconfig/kubeconfig-context.ts'
import { findKubeconfig, sourceOf } from './find-kubeconfig.ts'
import { IsolatedTransport } from './isolated-transport.ts'
import { openRemote } from './remote.ts'

export interface ConnectOptions {
  /** The context of the kubeconfig; its current context by default. */
  readonly context?: string
  /** The name of the program in the cluster's flows; `operator` by default. */
  readonly name?: string
  /** Ends the wait for a credential plugin of the kubeconfig. */
  readonly signal?: AbortSignal
}

const optionNames: Readonly<Record<keyof ConnectOptions, true>> = { context: true, name: true, signal: true }

/** A connection to a cluster. `client` and `clock` are used as those of a test's cluster. */
export interface Connection extends AsyncDisposable {
  readonly client: Client
  /** The time of this machine. */
  readonly clock: Clock
  /** The URL of the API server. */
  readonly url: string
  /** The name of the context. */
  readonly context: string
  /** The namespace of the context. The client does not use it: its namespace is `default`, as in a test. */
  readonly namespace: string
  /** Closes the connections, and with them the watches. */
  close(): Promise<void>
}

/**
 * Connects to the cluster of a kubeconfig, which is given as a path or as its text. By default it is the first existing
 * file of `$KUBECONFIG`, in a pod its ServiceAccount, or `~/.kube/config`. Nothing is sent before the first call.
 */
export async function connect(kubeconfig?: string, options: ConnectOptions = {}): Promise<Connection> {
  // Not shown: a kubeconfig that was parsed contains credentials.
  if (kubeconfig !== undefined && typeof kubeconfig !== 'string')
    throw new TypeError('connect: the kubeconfig must be a path or the text of a kubeconfig')
  checkProperties('connect', options, optionNames)
  const { context: contextName, name = 'operator', signal = new AbortController().signal } = options
  const source = await sourceFor(kubeconfig)
  const chosen = await selectContext(source, contextName)
  const remote = await openRemote(chosen.kubeconfig, signal).catch((error: unknown) => {
    const what = `cannot use the context ${JSON.stringify(chosen.context)} of ${source.path}`
    throw error instanceof KubeconfigError ? new KubeconfigError(`${what}: ${error.message}`, { cause: error }) : error
  })
  const transport = new IsolatedTransport(remote.transportAs(name), { awaitCall: (call) => call, onRead: () => {} })
  return {
    client: new Client(transport),
    clock: realClock,
    url: remote.server,
    context: chosen.context,
    namespace: chosen.namespace,
    close: () => remote.close(),
    [Symbol.asyncDispose]: () => remote.close(),
  }
}

async function sourceFor(kubeconfig: string | undefined): Promise<KubeconfigSource> {
  const read = async (path: string) => {
    const content = await nodePlatform.files.read(path)
    return content && new TextDecoder().decode(content)
  }
  if (kubeconfig === undefined) return findKubeconfig({ environment: process.env, read, home: homedir() })
  // A text has several lines, or is JSON.
  if (/\n|^\s*\{/.test(kubeconfig)) return { text: kubeconfig, path: 'the kubeconfig', directory: process.cwd() }
  const text = await read(kubeconfig)
  if (text === undefined) throw new KubeconfigError(`the kubeconfig ${kubeconfig} does not exist`)
  return sourceOf(kubeconfig, text)
}
