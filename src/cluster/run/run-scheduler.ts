// A scheduler in its own process: connects over HTTPS with a kubeconfig, with leader election.
import { hostname } from 'node:os'
import { realClock } from '../../base/time/clock.ts'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { newUid } from '../../base/random/ids.ts'
import type { Log } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { systemRandom } from '../../base/random/random.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { Informers } from '../../client/informer/informers.ts'
import { leaderGauge, LeaderElection } from '../../client/leader-election.ts'
import { ClientMetrics } from '../../client/transport/client-metrics.ts'
import { registerComponentMetrics } from './component-metrics.ts'
import { nodeOutbound } from '../../platform/node/http/outbound.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import type { SchedulerConfiguration } from '../../scheduler/framework/scheduler-configuration.ts'
import { DecisionRecord } from '../../scheduler/cycle/decision-record.ts'
import { extenderOf } from '../../scheduler/framework/extender.ts'
import { podResourceFamilies } from '../../scheduler/framework/pod-resource-metrics.ts'
import { schedulerMetrics } from '../../scheduler/framework/scheduler-metrics.ts'
import { schedulerPlugins } from '../../scheduler/plugins.ts'
import { Scheduler } from '../../scheduler/scheduler.ts'
import { serveComponent } from './component-server.ts'
import { openRemote } from '../client/remote.ts'
import { joinAndRelease } from './join-and-release.ts'

export interface RunSchedulerOptions {
  readonly kubeconfig: string
  readonly configuration: SchedulerConfiguration
  readonly log: Log
  /** Where health and metrics are served; nowhere when omitted. */
  readonly serve?: { readonly host: string; readonly port: number }
  /** Called with the port when it listens. */
  readonly onServe?: (port: number) => void
  /** Called when this scheduler becomes the leader. */
  readonly onLead: () => void
}

const leaseName = 'kube-scheduler'
/** How long open requests may take during the stop. */
const drainMs = 1_000

/** Runs until the signal is aborted; throws when the lease is lost. */
export async function runScheduler(
  { kubeconfig, configuration, log, serve, onServe, onLead }: RunSchedulerOptions,
  signal: AbortSignal,
): Promise<void> {
  await using cleanUps = new AsyncDisposableStack()
  const [clock, random, metrics] = [realClock, systemRandom, new Metrics()]
  const remote = await openRemote(kubeconfig, signal, new ClientMetrics(metrics, clock))
  cleanUps.defer(() => remote.close())
  const client = remote.clientAs('scheduler')
  /** Set while this scheduler is the leader. */
  const led: { informers?: Informers } = {}
  if (serve !== undefined) {
    registerComponentMetrics(metrics, cleanUps.use(nodePlatform.processStats.start()))
    const resources = () => podResourceFamilies(led.informers?.of(pod).all() ?? [])
    const listener = await serveComponent({ ...serve, metrics, resources, clock, client })
    cleanUps.defer(() => listener.close(drainMs))
    onServe?.(listener.port)
  }
  const shared = {
    ...{ client, clock, random, log, configuration, plugins: schedulerPlugins },
    flow: new FlowRecorder(clock),
    decisions: new DecisionRecord(),
    metrics: schedulerMetrics(metrics),
    extenders: (configuration.extenders ?? []).map((extender) => extenderOf(extender, nodeOutbound, clock)),
  }
  const identity = `${hostname()}_${newUid(random)}`
  const gauge = leaderGauge(metrics)
  const election = new LeaderElection({ client, clock, random, log, name: leaseName, identity, gauge })
  const tasks = new TaskGroup({ signal })
  tasks.start('flow', (stop) => remote.exportFlow(shared.flow, log, stop))
  tasks.start('scheduling queries', (stop) =>
    remote.answerQueries((podKey) => shared.decisions.explain(podKey), log, stop),
  )
  tasks.start('leader election', (stop) =>
    election.run((leading) => {
      onLead()
      const informers = new Informers(client, shared, leading)
      led.informers = informers
      new Scheduler({ ...shared, informers }, leading).start()
    }, stop),
  )
  await joinAndRelease(tasks, election, clock)
}
