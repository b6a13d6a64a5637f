// The platform as Node.js offers it.
import type { Platform } from '../platform.ts'
import { provideByteTexts } from './byte-texts.ts'
import { nodeCrypto } from './crypto.ts'
import { nodeFiles } from './files.ts'
import { nodeHttp2 } from './http2.ts'
import { nodeListeners } from './listener.ts'
import { nodeOutbound } from './outbound.ts'
import { nodeProcessStats } from './process-stats.ts'
import { nodeProcesses } from './processes.ts'
import { nodeWorkers } from './workers.ts'

provideByteTexts()

export const nodePlatform: Platform = {
  crypto: nodeCrypto,
  files: nodeFiles,
  http2: nodeHttp2,
  listeners: nodeListeners,
  outbound: nodeOutbound,
  processes: nodeProcesses,
  processStats: nodeProcessStats,
  workers: nodeWorkers,
}
