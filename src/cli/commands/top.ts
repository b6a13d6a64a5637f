// coxswain top: a full-screen view of a cluster in the terminal.
import { context } from '../../base/observability/context.ts'
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
import { chooseCluster, clusterOptions, withReachabilityHint } from '../options/choose-cluster.ts'
import { pluralNames } from '../options/named-object.ts'
import { openClusterApi, topSender } from '../top/cluster-api.ts'
import { kubectlCommand } from '../top/kubectl-command.ts'
import { TtyScreen } from '../top/tty-screen.ts'

export const top = defineCommand({
  name: 'top',
  summary: 'shows a cluster in the terminal: objects, logs, live flows and the map (not the usage of kubectl top)',
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
    const cluster = await chooseCluster(options, environment)
    return withReachabilityHint(cluster, async () => {
      await using api = await openClusterApi(cluster, signal)
      const [resources, version, missing] = await Promise.all([
        listedResources(cluster.kubeconfig, signal),
        api.read('/version', jsonType, signal) as Promise<{ readonly gitVersion?: string }>,
        missingFlows(api, signal),
      ])
      const resource = resourceNamed(kindName, resources)
      if (resource === undefined) throw new UsageError(unknownResourceText(kindName, resources))
      const own = options.namespace ?? cluster.namespace
      const namespace = options['all-namespaces'] ? '' : own
      using screen = new TtyScreen(
        process.stdin,
        process.stdout,
        (environment['NO_COLOR'] ?? '') === '' && environment['TERM'] !== 'dumb',
        kubectlCommand(cluster.path, options.context),
      )
      const state: State = {
        cluster: {
          context: options.context ?? cluster.context,
          ...{ server: cluster.server, version: version.gitVersion ?? '', namespace: own, missing },
        },
        ...{ resources, namespace, favorites: [own], prompt: undefined, notice: undefined, ...screen.size, nextId: 2 },
        views: [tableView(1, { kind: 'list', resource, namespace: resource.namespaced ? namespace : '' })],
      }
      const app = new TerminalApp(screen, { api, clock: realClock, random: systemRandom }, state)
      // A character may be in two pieces.
      const decoder = new TextDecoder()
      const typed = (data: Buffer): void => app.typed(decoder.decode(data, { stream: true }))
      const resized = (): void => app.dispatch({ kind: 'resize', ...screen.size })
      const drained = (): void => app.drained()
      process.stdin.on('data', typed)
      process.stdout.on('resize', resized).on('drain', drained)
      try {
        await app.run(signal)
      } finally {
        process.stdin.off('data', typed)
        process.stdout.off('resize', resized).off('drain', drained)
      }
      return 0
    })
  },
})

/** Preferred versions of everything that can be listed. */
async function listedResources(kubeconfig: string, signal: AbortSignal): Promise<readonly Resource[]> {
  await using remote = await openRemote(kubeconfig, signal)
  const { kinds } = await discover(remote.clientAs(topSender), context(signal))
  return kinds
    .filter(({ isPreferred, verbs }) => isPreferred && verbs.includes('list'))
    .map(({ kind, verbs }) => ({ ...kind, verbs }))
}
