// The class of the Gateways that this controller serves, and the status of such classes.
import { met, unmet, type Outcome } from './attachment/outcome.ts'
import { supportedFeatures } from './features.ts'
import type { GatewayClass } from './kinds/gateway-kinds.ts'
import { mergeConditions } from './status/merge-conditions.ts'

export const gatewayControllerName = 'coxswain.dev/gateway'
export const gatewayClassName = 'coxswain'

export const ownGatewayClass = {
  metadata: { name: gatewayClassName },
  spec: { controllerName: gatewayControllerName, description: 'Gateways on the proxy of Coxswain' },
}

/** The annotation of definitions that names their release. */
export const bundleVersionAnnotation = 'gateway.networking.k8s.io/bundle-version'

const supportedVersion = /^v1\.[0-4]\.\d{1,4}/

export const isOwnClass = ({ spec }: GatewayClass): boolean => spec.controllerName === gatewayControllerName

/** Parameters are not supported. */
export const acceptedClass = ({ spec }: GatewayClass): Outcome =>
  spec.parametersRef === undefined
    ? met('Accepted', 'the class is served')
    : unmet('InvalidParameters', `parameters of kind ${spec.parametersRef.kind} are not supported`)

/** `installed` is the release of the installed definitions. */
export function classStatus(
  object: GatewayClass,
  installed: string | undefined,
  time: string,
): NonNullable<GatewayClass['status']> {
  const version = installed ?? 'unknown'
  const wanted = [
    { type: 'Accepted', outcome: acceptedClass(object) },
    {
      type: 'SupportedVersion',
      outcome: supportedVersion.test(version)
        ? met('SupportedVersion', `release ${version} is supported`)
        : unmet('UnsupportedVersion', `release ${version} of the definitions is not supported; v1.0 to v1.4 are`),
    },
  ]
  return {
    conditions: mergeConditions(object.status?.conditions, wanted, { generation: object.metadata.generation, time }),
    supportedFeatures: supportedFeatures.map((name) => ({ name })),
  }
}
