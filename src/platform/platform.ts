// Platform: all that the runtime offers, in one value that cluster/ hands to whoever needs a part of it.
import type { CryptoProvider } from './crypto.ts'
import type { Files } from './files.ts'
import type { Http2Provider } from './http2.ts'
import type { ListenerProvider } from './listener.ts'
import type { OutboundProvider } from './outbound.ts'
import type { ProcessStatsProvider } from './process-stats.ts'
import type { Processes } from './processes.ts'
import type { Workers } from './workers.ts'

export interface Platform {
  readonly crypto: CryptoProvider
  readonly files: Files
  readonly http2: Http2Provider
  readonly listeners: ListenerProvider
  readonly outbound: OutboundProvider
  readonly processes: Processes
  readonly processStats: ProcessStatsProvider
  readonly workers: Workers
}
