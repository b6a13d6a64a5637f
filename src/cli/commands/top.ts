// coxswain top: a full-screen view of a cluster in the terminal.
import { context as contextOf } from '../../base/observability/context.ts'
import { errorText } from '../../base/observability/log.ts'
import { systemRandom } from '../../base/random/random.ts'
import { realClock } from '../../base/time/clock.ts'
import { discover } from '../../client/discovery.ts'
import { openRemote } from '../../cluster/client/remote.ts'
import { missingFlows } from '../../ui/terminal/source/flow-stream.ts'
import { jsonType } from '../../ui/terminal/source/server-api.ts'
import { resourceNamed, unknownResourceText, type Resource } from '../../ui/terminal/state/resources.ts'
import type { State } from '../../ui/terminal/state/state.ts'
import { tableView } from '../../ui/terminal/state/views.ts'
import { TerminalApp } from '../../ui/terminal/terminal-app.ts'
import { defineCommand, UsageError } from '../command/command.ts'
import { chooseCluster, clusterOptions, withReachabilityHint, type ChosenCluster } from '../options/choose-cluster.ts'
import { pluralNames } from '../options/named-object.ts'
import { openClusterApi, topSender, type ClusterApi } from '../top/cluster-api.ts'
import { kubectlCommand } from '../top/kubectl-command.ts'
import { kubectlPortForward } from '../top/port-forward.ts'
import { TtyScreen } from '../top/tty-screen.ts'

export const top = defineCommand({
  name: 'top',
  summary: 'shows a cluster in the terminal: objects and their usage, logs, live flows and the map',
  operands: '[<kind>]',
  operandValues: pluralNames,
  options: {
    ...clusterOptions,
    'all-namespaces': { type: 'boolean', short: 'A', help: 'start with all namespaces' },
  },
  async run({ operands: [kindName = 'pods'], options }, terminal) {
    const { signal, environment } = terminal
    if (!terminal.isTerminal || !process.stdin.isTTY)
      throw new UsageError('it needs a terminal; kubectl get and coxswain flow print to files and pipes')
    const choice = { kindName, namespace: options.namespace, isAll: options['all-namespaces'] ?? false }
    const { kubeconfig, context } = options
    const open = async (named: string | undefined): Promise<Session> => {
      const own = {
        ...(kubeconfig === undefined ? {} : { kubeconfig }),
        ...(named === undefined ? {} : { context: named }),
      }
      const cluster = await chooseCluster(own, environment)
      return withReachabilityHint(cluster, () => openSession(cluster, choice, signal))
    }
    let session = await open(context)
    try {
      using screen = new TtyScreen(
        process.stdin,
        process.stdout,
        (environment['NO_COLOR'] ?? '') === '' && environment['TERM'] !== 'dumb',
        (effect) => kubectlCommand(session.cluster.path, session.cluster.context)(effect),
      )
      for (;;) {
        const next = await shown(session, screen, signal)
        if (next === undefined) return 0
        const opened = await open(next).catch((error: unknown) => ({ text: errorText(error), isError: true }))
        if ('text' in opened) session = { ...session, state: { ...session.state, notice: opened } }
        else {
          await session.api[Symbol.asyncDispose]()
          session = opened
        }
      }
    } finally {
      await session.api[Symbol.asyncDispose]()
    }
  },
})

/** A cluster that is shown, and the state with which it begins. */
interface Session {
  readonly cluster: ChosenCluster
  readonly api: ClusterApi
  readonly state: Omit<State, 'width' | 'height'>
}

interface Choice {
  readonly kindName: string
  readonly namespace: string | undefined
  readonly isAll: boolean
}

async function openSession(
  cluster: ChosenCluster,
  { kindName, namespace: named, isAll }: Choice,
  signal: AbortSignal,
): Promise<Session> {
  const api = await openClusterApi(cluster, signal)
  try {
    const [resources, version, missing] = await Promise.all([
      listedResources(cluster.kubeconfig, signal),
      api.read('/version', jsonType, signal) as Promise<{ readonly gitVersion?: string }>,
      missingFlows(api, signal),
    ])
    const resource = resourceNamed(kindName, resources)
    if (resource === undefined) throw new UsageError(unknownResourceText(kindName, resources))
    const own = named ?? cluster.namespace
    const namespace = isAll ? '' : own
    const { context, contexts, server } = cluster
    const state = {
      cluster: { context, server, version: version.gitVersion ?? '', namespace: own, missing },
      contexts,
      resources,
      forwards: [],
      namespace,
      favorites: [own],
      prompt: undefined,
      notice: undefined,
      views: [tableView(1, { kind: 'list', resource, namespace: resource.namespaced ? namespace : '' })],
      nextId: 2,
    }
    return { cluster, api, state }
  } catch (error) {
    await api[Symbol.asyncDispose]()
    throw error
  }
}

/** Returns the name of the context to show next; undefined at the end. */
async function shown(
  { cluster, api, state }: Session,
  screen: TtyScreen,
  signal: AbortSignal,
): Promise<string | undefined> {
  const forward = kubectlPortForward(cluster.path, cluster.context)
  const deps = { api, clock: realClock, random: systemRandom, forward }
  const app = new TerminalApp(screen, deps, { ...state, ...screen.size })
  // A character may be in two pieces.
  const decoder = new TextDecoder()
  const typed = (data: Buffer): void => app.typed(decoder.decode(data, { stream: true }))
  const resized = (): void => app.dispatch({ kind: 'resize', ...screen.size })
  const drained = (): void => app.drained()
  process.stdin.on('data', typed)
  process.stdout.on('resize', resized).on('drain', drained)
  try {
    return await app.run(signal)
  } finally {
    process.stdin.off('data', typed)
    process.stdout.off('resize', resized).off('drain', drained)
  }
}

/** Preferred versions of everything that can be listed. */
async function listedResources(kubeconfig: string, signal: AbortSignal): Promise<readonly Resource[]> {
  await using remote = await openRemote(kubeconfig, signal)
  const { kinds } = await discover(remote.clientAs(topSender), contextOf(signal))
  return kinds
    .filter(({ isPreferred, verbs }) => isPreferred && verbs.includes('list'))
    .map(({ kind, verbs }) => ({ ...kind, verbs }))
}
