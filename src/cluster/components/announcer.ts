// The announcer as a component: makes this machine respond for addresses of load balancers.
import { Informers } from '../../client/informer/informers.ts'
import { AddressAnnouncer } from '../../cloud/address-pool/address-announcer.ts'
import type { AddressPool } from '../../cloud/address-pool/address-pool.ts'
import type { AnnouncedAddresses } from '../../machine/announced-addresses/announced-addresses.ts'
import { proxyUser } from '../client/component-users.ts'
import { thisMachinesAddresses } from '../node/announced-addresses.ts'
import type { ComponentDefinition } from './component-definition.ts'

export interface AnnouncerSettings {
  readonly nodeName: string
  readonly pool: AddressPool
  /** This machine when omitted. */
  readonly machine?: AnnouncedAddresses
  /** Called when it takes part in elections. */
  readonly onReady?: () => void
}

export const announcerComponent = ({
  nodeName,
  pool,
  machine = thisMachinesAddresses(),
  onReady,
}: AnnouncerSettings): ComponentDefinition => ({
  name: `announcer/${nodeName}`,
  user: proxyUser,
  prepare: ({ clock, random, log, flow, client: clientAs }) => ({
    start(tasks) {
      const client = clientAs(`announcer/${nodeName}`, proxyUser)
      const informers = new Informers(client, { clock, random, log }, tasks)
      const announcer = new AddressAnnouncer({ informers, client, pool, nodeName, machine, clock, random, log, flow })
      tasks.start('announcer', (signal) => announcer.run(signal))
      if (onReady !== undefined) void informers.synced().then(onReady)
    },
  }),
})
