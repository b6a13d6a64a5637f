// ComponentDefinition: a component of a cluster, defined once. Two hosts run it: the process of a whole cluster
// (component-in-cluster.ts) and a process of its own (run/run-component.ts).
import type { TaskGroup } from '../../base/async/task-group.ts'
import type { MetricFamily } from '../../base/observability/exposition.ts'
import type { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { Log } from '../../base/observability/log.ts'
import type { Metrics } from '../../base/observability/metrics.ts'
import type { Random } from '../../base/random/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { User } from '../../apiserver/request/request.ts'
import type { Client } from '../../client/client.ts'

/** What a component gets from the process that it runs in. */
export interface ComponentHost {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly flow: FlowRecorder
  readonly metrics: Metrics
  /**
   * A client that acts as the user. A process of its own has the credentials of its kubeconfig instead, and tokens of
   * ServiceAccounts. Flow records name the sender.
   */
  client(sender: string, user: User): Client
  /** The authority of the API server's certificate, as PEM, if the host has read it from a kubeconfig. */
  readonly serverAuthority?: string | undefined
}

export interface ComponentDefinition {
  readonly name: string
  /** Its own requests, such as those for its lease, are this user's. */
  readonly user: User
  /** The name of its lease in `kube-system`, if one of several instances leads. */
  readonly lease?: string
  /** Whether it stands for that lease in coordinated leader election, if the feature is on. */
  readonly isCoordinated?: boolean
  /** Called once in a process, because metrics are defined once. */
  prepare(host: ComponentHost): PreparedComponent
}

export interface PreparedComponent {
  /** Starts it, also after a failure or as a new leader. It ends with the tasks. */
  start(tasks: TaskGroup): void
  /** What /metrics/resources contains. */
  readonly resources?: () => Iterable<MetricFamily>
}
