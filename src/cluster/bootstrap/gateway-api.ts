// The kinds of the Gateway API, the GatewayClass `coxswain` and the permissions of its controller, for clusters that are
// started with them.
import { customResourceDefinition } from '../../api/apiextensions/v1/custom-resource-definition.ts'
import type { Context } from '../../base/observability/context.ts'
import type { Client } from '../../client/client.ts'
import { gatewayDefinitions } from '../../gateway/definitions/gateway-definitions.ts'
import { gatewayGroup } from '../../gateway/definitions/schema-parts.ts'
import { ownGatewayClass } from '../../gateway/gateway-class.ts'
import { gatewayClass } from '../../gateway/kinds/gateway-kinds.ts'
import { createIfMissing } from './bootstrap-objects.ts'
import { grant } from './grant.ts'

const role = 'coxswain:gateway'
const read = ['list', 'watch']
const resources = ['gatewayclasses', 'gateways', 'grpcroutes', 'httproutes']
const laterResources = ['backendtlspolicies', 'listenersets', 'tlsroutes']

const rules = [
  { apiGroups: [gatewayGroup], resources: [...resources, 'referencegrants'], verbs: read },
  { apiGroups: [gatewayGroup], resources: resources.map((name) => `${name}/status`), verbs: ['update'] },
  { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: read },
]

/** What later versions need has a role of its own, because existing roles are kept. */
const laterRole = 'coxswain:gateway-later-kinds'
const laterRules = [
  { apiGroups: [gatewayGroup], resources: laterResources, verbs: read },
  { apiGroups: [gatewayGroup], resources: laterResources.map((name) => `${name}/status`), verbs: ['update'] },
  { apiGroups: [''], resources: ['configmaps'], verbs: read },
]

const balancerRole = 'coxswain:gateway-load-balancers'
const balancerRules = [
  { apiGroups: [''], resources: ['services'], verbs: ['create', 'delete', 'patch'] },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['create', 'delete', 'patch'] },
]

/** Definitions that exist, perhaps of another release, are left unchanged. */
export async function installGatewayApi(client: Client, context: Context): Promise<void> {
  for (const definition of gatewayDefinitions) {
    const name = `${definition.spec.names.plural}.${gatewayGroup}`
    const object = { ...definition, metadata: { ...definition.metadata, name } }
    await createIfMissing(client, customResourceDefinition, object, context)
  }
}

/** An existing class is kept. The definitions must be installed. */
export async function publishGatewayClass(
  client: Client,
  user: string,
  hasLoadBalancers: boolean,
  context: Context,
): Promise<void> {
  await grant(client, { role, rules, user }, context)
  await grant(client, { role: laterRole, rules: laterRules, user }, context)
  if (hasLoadBalancers) await grant(client, { role: balancerRole, rules: balancerRules, user }, context)
  await createIfMissing(client, gatewayClass, ownGatewayClass, context)
}
