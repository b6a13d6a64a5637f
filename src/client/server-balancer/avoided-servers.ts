// AvoidedServers: what a balancer knows about API servers, for other ways to them, such as the routes of the Service `kubernetes`.
import type { Peer } from '../../platform/sockets/sockets.ts'

export interface AvoidedServers {
  /** Whether a server should get no new connections, because it failed or is not ready while another one is. */
  has(server: Peer): boolean
  /** Called when servers join or leave. */
  onChange(handler: () => void): void
}
