// A node in a network namespace: its service proxy and its announcer. Prints a line when both are ready.
import { readFile } from 'node:fs/promises'
import { silentLog } from '../../src/base/observability/log.ts'
import { AddressPool } from '../../src/cloud/address-pool/address-pool.ts'
import { runAnnouncer } from '../../src/cluster/run/run-announcer.ts'
import { runProxy } from '../../src/cluster/run/run-proxy.ts'

const [kubeconfigPath = '', nodeName = '', ranges = ''] = process.argv.slice(2)
const kubeconfig = await readFile(kubeconfigPath, 'utf8')
const stop = new AbortController()
const proxyReady = Promise.withResolvers<void>()
const announcerReady = Promise.withResolvers<void>()
process.once('SIGTERM', () => stop.abort())
const common = { kubeconfig, nodeName, log: silentLog }
const running = [
  runProxy(
    { ...common, podCidrs: [], masqueradesAll: false, enforcesPolicies: false, onSynced: () => proxyReady.resolve() },
    stop.signal,
  ),
  runAnnouncer({ ...common, pool: AddressPool.parse(ranges), onReady: announcerReady.resolve }, stop.signal),
]
await Promise.all([proxyReady.promise, announcerReady.promise])
process.stdout.write('ready\n')
await Promise.allSettled(running)
