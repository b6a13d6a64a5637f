// The platform on Node.js.
import type { Platform } from '../platform.ts'
import { polyfillUint8Array } from './uint8-array-polyfill.ts'
import { nodeCrypto } from './crypto.ts'
import { nodeFiles } from './files.ts'
import { nodeHttp2 } from './http/http2-client.ts'
import { nodeListeners } from './http/listener.ts'
import { nodeOutbound } from './http/outbound.ts'
import { nodeProcessStats } from './process/process-stats.ts'
import { nodeProcesses } from './process/processes.ts'
import { nodeWorkers } from './process/workers.ts'
import { nodeSockets } from './socket/sockets.ts'

polyfillUint8Array()

export const nodePlatform: Platform = {
  crypto: nodeCrypto,
  files: nodeFiles,
  http2: nodeHttp2,
  listeners: nodeListeners,
  outbound: nodeOutbound,
  processes: nodeProcesses,
  processStats: nodeProcessStats,
  sockets: nodeSockets,
  workers: nodeWorkers,
}
