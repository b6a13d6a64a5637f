// An announcer in its own process: makes this machine respond for addresses of load balancers, for any API server.
import { TaskGroup } from '../../base/async/task-group.ts'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { Log } from '../../base/observability/log.ts'
import { systemRandom } from '../../base/random/random.ts'
import { realClock } from '../../base/time/clock.ts'
import { Informers } from '../../client/informer/informers.ts'
import { AddressAnnouncer } from '../../cloud/address-pool/address-announcer.ts'
import type { AddressPool } from '../../cloud/address-pool/address-pool.ts'
import type { AnnouncedAddresses } from '../../machine/announced-addresses/announced-addresses.ts'
import { openRemote } from '../client/remote.ts'
import { thisMachinesAddresses } from '../node/announced-addresses.ts'

export interface RunAnnouncerOptions {
  readonly kubeconfig: string
  readonly nodeName: string
  readonly pool: AddressPool
  readonly log: Log
  /** This machine when omitted. */
  readonly machine?: AnnouncedAddresses
  /** Called when it takes part in elections. */
  readonly onReady: () => void
}

/** Runs until the signal is aborted. The addresses are removed then. */
export async function runAnnouncer(options: RunAnnouncerOptions, signal: AbortSignal): Promise<void> {
  const { kubeconfig, nodeName, pool, log, machine = thisMachinesAddresses(), onReady } = options
  await using cleanUps = new AsyncDisposableStack()
  const remote = cleanUps.use(await openRemote(kubeconfig, signal))
  const [clock, random, flow] = [realClock, systemRandom, new FlowRecorder(realClock)]
  const client = remote.clientAs(`announcer/${nodeName}`)
  const tasks = new TaskGroup({ signal })
  const informers = new Informers(client, { clock, random, log }, tasks)
  const announcer = new AddressAnnouncer({ informers, client, pool, nodeName, machine, clock, random, log, flow })
  tasks.start('announcer', (stop) => announcer.run(stop))
  tasks.start('flow', (stop) => remote.exportFlow(flow, log, stop))
  void informers.synced().then(onReady)
  await tasks.join()
}
