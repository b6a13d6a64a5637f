// What the components of one process share.
import type { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { Gauge, Metrics } from '../../base/observability/metrics.ts'
import type { User } from '../../apiserver/request/request.ts'
import type { ApiServer } from '../../apiserver/server.ts'
import type { Client } from '../../client/client.ts'
import type { ClusterOptions } from './cluster-options.ts'

export interface ComponentContext {
  readonly options: ClusterOptions
  readonly flow: FlowRecorder
  readonly metrics: Metrics
  /** Shows which leases this process holds. */
  readonly leaderGauge: Gauge
  /** The API server, while it is running. */
  readonly server: ApiServer | undefined
  /** A client without a socket. Flow records name its sender. */
  client(sender: string, user: User): Client
}
