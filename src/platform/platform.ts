// Platform: everything that the runtime provides. cluster/ passes it, or parts of it, to the components.
import type { CryptoProvider } from './crypto/crypto.ts'
import type { Files } from './files.ts'
import type { Http2Provider } from './http/http2-client.ts'
import type { ListenerProvider } from './http/listener.ts'
import type { OutboundProvider } from './http/outbound.ts'
import type { ProcessStatsProvider } from './process/process-stats.ts'
import type { Processes, ProcessSignals } from './process/processes.ts'
import type { Workers } from './process/workers.ts'
import type { Sockets } from './sockets/sockets.ts'

export interface Platform {
  readonly crypto: CryptoProvider
  readonly files: Files
  readonly http2: Http2Provider
  readonly listeners: ListenerProvider
  readonly outbound: OutboundProvider
  readonly processes: Processes & ProcessSignals
  readonly processStats: ProcessStatsProvider
  readonly sockets: Sockets
  readonly workers: Workers
}
