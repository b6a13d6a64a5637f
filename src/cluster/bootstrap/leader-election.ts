// The permissions of components whose leases upstream's default roles do not contain.
import type { Context } from '../../base/observability/context.ts'
import type { Client } from '../../client/client.ts'
import { grant } from './grant.ts'

const apiGroups = ['coordination.k8s.io']
const resources = ['leases']

/** Allows the user of a component to hold its lease. */
export const grantLease = (client: Client, lease: string, user: string, context: Context): Promise<void> => {
  const rules = [
    { apiGroups, resources, verbs: ['create'] },
    { apiGroups, resources, resourceNames: [lease], verbs: ['get', 'update'] },
  ]
  return grant(client, { role: `coxswain:leader-election:${lease}`, rules, user }, context)
}
