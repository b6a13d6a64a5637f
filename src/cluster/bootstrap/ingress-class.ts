// The IngressClass `coxswain` and the permissions of its controller.
import type { Context } from '../../base/observability/context.ts'
import { ingressClass } from '../../api/networking/v1/ingress-class.ts'
import type { Client } from '../../client/client.ts'
import { ownIngressClass } from '../../ingress/ingress-api/ingress-class.ts'
import { createIfMissing } from './bootstrap-objects.ts'
import { grant } from './grant.ts'

const role = 'coxswain:ingress'
const read = ['list', 'watch']

/** Existing objects are kept, so that users can make another class the default. */
export async function publishIngressClass(client: Client, user: string, context: Context): Promise<void> {
  const rules = [
    { apiGroups: [''], resources: ['namespaces', 'secrets', 'services'], verbs: read },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: read },
    { apiGroups: ['networking.k8s.io'], resources: ['ingressclasses', 'ingresses'], verbs: read },
    { apiGroups: ['networking.k8s.io'], resources: ['ingresses/status'], verbs: ['update'] },
    { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch', 'update'] },
  ]
  await grant(client, { role, rules, user }, context)
  await createIfMissing(client, ingressClass, ownIngressClass, context)
}
