// The CustomResourceDefinitions of the Gateway API, standard channel: fields, limits, rules and columns as its reference
// documents them.
import type { CustomResourceDefinitionInput } from '../../api/apiextensions/v1/custom-resource-definition.ts'
import { backendTlsPolicyDefinition } from './backend-tls-policy.ts'
import { gatewayClassDefinition } from './gateway-class.ts'
import { gatewayDefinition } from './gateway.ts'
import { grpcRouteDefinition } from './grpc-route.ts'
import { httpRouteDefinition } from './http-route.ts'
import { listenerSetDefinition } from './listener-set.ts'
import { referenceGrantDefinition } from './reference-grant.ts'
import { tlsRouteDefinition } from './tls-route.ts'

export const gatewayDefinitions: readonly CustomResourceDefinitionInput[] = [
  backendTlsPolicyDefinition,
  gatewayClassDefinition,
  gatewayDefinition,
  grpcRouteDefinition,
  httpRouteDefinition,
  listenerSetDefinition,
  referenceGrantDefinition,
  tlsRouteDefinition,
]
