// runComponent: hosts a component in a process of its own. It connects over HTTPS with a kubeconfig, serves its health and
// metrics, exports its flow events and takes part in its leader election.
import { TaskGroup } from '../../base/async/task-group.ts'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { Log } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { systemRandom } from '../../base/random/random.ts'
import { realClock } from '../../base/time/clock.ts'
import { serviceAccountOf } from '../../apiserver/request/user-names.ts'
import { leaderGauge, type LeaseSettings } from '../../client/leader-election.ts'
import { ClientMetrics } from '../../client/transport/client-metrics.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { openRemote, type Remote } from '../client/remote.ts'
import { controllerTokens, ServiceAccountCredentials } from '../client/service-account-credentials.ts'
import type { ComponentDefinition, ComponentHost } from '../components/component-definition.ts'
import { programVersions } from '../components/program-versions.ts'
import { newIdentity, startElected } from '../components/start-elected.ts'
import { registerComponentMetrics } from './component-metrics.ts'
import { serveComponent } from './component-server.ts'

export interface ComponentProcessOptions {
  readonly kubeconfig: string
  readonly log: Log
  /** Where health and metrics are served; nowhere when omitted. */
  readonly serve?: { readonly host: string; readonly port: number }
  /** Called with the port when it listens. */
  readonly onServe?: (port: number) => void
  /** Of the leader election; the defaults when omitted. */
  readonly lease?: Partial<LeaseSettings> | 'none'
  /** Whether it takes part in coordinated leader election, if the component can. */
  readonly hasCoordinatedElection?: boolean
  /** Called when this process becomes the leader, or at the start without an election. */
  readonly onLead?: () => void
}

export interface ComponentProcessExtras {
  /** ServiceAccounts act with tokens of their own, and not with the credentials of the kubeconfig. */
  readonly hasAccounts?: boolean
  /** Further tasks that use the connection, whether or not the process leads. */
  readonly alongside?: (remote: Remote, tasks: TaskGroup) => void
}

/** How long open requests may take during the stop. */
const drainMs = 1_000

/** Runs until the signal is aborted; throws when a task fails or the lease is lost. */
export async function runComponent(
  definition: ComponentDefinition,
  { kubeconfig, log, serve, onServe, lease, hasCoordinatedElection = false, onLead }: ComponentProcessOptions,
  signal: AbortSignal,
  { hasAccounts = false, alongside }: ComponentProcessExtras = {},
): Promise<void> {
  await using cleanUps = new AsyncDisposableStack()
  const metrics = new Metrics()
  const remote = cleanUps.use(await openRemote(kubeconfig, signal, { metrics: new ClientMetrics(metrics, realClock) }))
  const own = remote.clientAs(definition.name)
  const flow = new FlowRecorder(realClock)
  const host: ComponentHost = {
    clock: realClock,
    random: systemRandom,
    log,
    flow,
    metrics,
    serverAuthority: remote.authority,
    client: hasAccounts ? clientsWithAccounts(remote, definition.name) : (sender) => remote.clientAs(sender),
  }
  const prepared = definition.prepare(host)
  const gauge = definition.lease === undefined ? undefined : leaderGauge(metrics)
  registerComponentMetrics(metrics, cleanUps.use(nodePlatform.processStats.start()))
  if (serve !== undefined) {
    const { resources } = prepared
    const listener = await serveComponent({
      ...serve,
      metrics,
      clock: realClock,
      client: own,
      ...(resources && { resources }),
    })
    cleanUps.defer(() => listener.close(drainMs))
    onServe?.(listener.port)
  }
  const tasks = new TaskGroup({ signal })
  tasks.start('flow', (stop) => remote.exportFlow(flow, log, stop))
  alongside?.(remote, tasks)
  const candidate =
    lease === 'none' || gauge === undefined
      ? undefined
      : {
          identity: newIdentity(systemRandom),
          gauge,
          ...(lease && { settings: lease }),
          ...(hasCoordinatedElection && { versions: programVersions }),
        }
  const held = startElected(definition, prepared, host, candidate, tasks, onLead)
  try {
    await tasks.join()
  } finally {
    await held?.release()
  }
}

function clientsWithAccounts(remote: Remote, name: string): ComponentHost['client'] {
  const accounts = new ServiceAccountCredentials(controllerTokens(remote.clientAs(name)), realClock)
  return (sender, user) => {
    const account = serviceAccountOf(user.name)
    return account === undefined ? remote.clientAs(sender) : remote.clientWith(sender, accounts.of(account.name))
  }
}
