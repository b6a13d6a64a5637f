// Coordinated leader election as a component of the API server: of several servers, one elects.
import { LeaseElections, leaseElectionsName } from '../../client/coordinated-election/lease-elections.ts'
import { apiServerUser } from '../client/component-users.ts'
import type { ComponentDefinition } from './component-definition.ts'

export const leaseElectionsComponent: ComponentDefinition = {
  name: leaseElectionsName,
  user: apiServerUser,
  lease: leaseElectionsName,
  prepare: ({ clock, random, log, client: clientAs }) => ({
    start(tasks) {
      const client = clientAs(leaseElectionsName, apiServerUser)
      void new LeaseElections({ client, clock, random, log }, tasks)
    },
  }),
}
