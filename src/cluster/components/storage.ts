// What provisions volumes, as components: the sidecars of a CSI driver, the snapshot controller, the local-path provisioner.
import { context } from '../../base/observability/context.ts'
import { Informers } from '../../client/informer/informers.ts'
import type { SimulatedStorage } from '../../machine/csi/simulated/simulated-csi-driver.ts'
import { startCsiSidecars, startSnapshotController } from '../../storage/csi/csi-sidecars.ts'
import { startLocalPathProvisioner } from '../../storage/local-path/local-path-provisioner.ts'
import type { NodeVolumes } from '../../storage/local-path/node-volumes.ts'
import { publishLocalPath } from '../bootstrap/local-path-storage.ts'
import { apiServerUser, csiSidecarsUser, localPathUser, snapshotControllerUser } from '../client/component-users.ts'
import type { ComponentDefinition } from './component-definition.ts'

export const csiSidecarsComponent = (storage: SimulatedStorage, hasSnapshots: boolean): ComponentDefinition => ({
  name: 'csi-sidecars',
  user: csiSidecarsUser,
  prepare: ({ clock, random, log, flow, client: clientAs }) => ({
    start(tasks) {
      const client = clientAs('csi-sidecars', csiSidecarsUser)
      const informers = new Informers(client, { clock, random, log }, tasks)
      const driver = storage.driverOf({ id: 'controller' })
      tasks.start('csi sidecars', () =>
        startCsiSidecars(driver, { hasSnapshots }, { client, informers, clock, random, log, flow }, tasks),
      )
    },
  }),
})

/** Upstream's name. */
export const snapshotControllerLease = 'snapshot-controller-leader'

export const snapshotControllerComponent: ComponentDefinition = {
  name: 'snapshot-controller',
  user: snapshotControllerUser,
  lease: snapshotControllerLease,
  prepare: ({ clock, random, log, flow, client: clientAs }) => ({
    start(tasks) {
      const client = clientAs('snapshot-controller', snapshotControllerUser)
      const informers = new Informers(client, { clock, random, log }, tasks)
      startSnapshotController({ client, informers, clock, random, log, flow }, tasks)
    },
  }),
}

/** The provisioner of volumes on these nodes. */
export const localPathComponent = (host: string, nodes: ReadonlyMap<string, NodeVolumes>): ComponentDefinition => ({
  name: `local-path/${host}`,
  user: localPathUser,
  prepare: ({ clock, random, log, client: clientAs }) => ({
    start: (tasks) =>
      tasks.start('storage class', async (signal) => {
        const areLimited = await Promise.all(Array.from(nodes.values(), (volumes) => volumes.areLimited(signal)))
        const publisher = clientAs('apiserver', apiServerUser)
        await publishLocalPath(publisher, localPathUser.name, areLimited.every(Boolean), context(signal))
        const client = clientAs(`local-path/${host}`, localPathUser)
        startLocalPathProvisioner({ client, clock, random, log, nodes, host }, tasks)
      }),
  }),
})
