// Token requests of kubelets: only tokens of pods that are bound to the kubelet's node, for audiences that the pod uses, and
// tokens of the node's own agents.
import type { TokenRequest } from '../../../../api/authentication/v1/token-request.ts'
import { persistentVolume } from '../../../../api/core/v1/volume/persistent-volume.ts'
import { persistentVolumeClaim } from '../../../../api/core/v1/volume/persistent-volume-claim.ts'
import { node as nodeKind } from '../../../../api/core/v1/node/node.ts'
import { pod, type Pod } from '../../../../api/core/v1/pod/pod.ts'
import type { ApiObject } from '../../../../api/meta/object.ts'
import { notFound } from '../../../../api/errors/status-error.ts'
import { csiDriver } from '../../../../api/storage/v1/csi-driver.ts'
import { isNodeAgent, nodeAgentTokenSecondsMax } from '../../../authorization/node/node-agents.ts'
import { admissionForbidden, type AdmissionAttributes, type AdmissionHost } from '../../framework/admission-plugin.ts'
import type { ObjectLister } from '../../../watch-cache/object-caches.ts'

/** Throws if the request is not allowed. */
export function checkTokenRequest(
  node: string,
  attributes: AdmissionAttributes,
  host: AdmissionHost,
): Promise<void> | undefined {
  const { operation, subresource, namespace, object } = attributes
  if (operation !== 'create' || subresource !== 'token') return undefined
  const { spec } = object as ApiObject & TokenRequest
  const { apiVersion, kind, name = '', uid = '' } = spec.boundObjectRef ?? {}
  if (isNodeAgent(attributes) && kind !== 'Pod') return checkAgentToken(node, attributes, spec, host)
  if (apiVersion !== 'v1' || kind !== 'Pod' || name === '')
    throw admissionForbidden(attributes, 'node requested token not bound to a pod')
  if (uid === '') throw admissionForbidden(attributes, 'node requested token with a pod binding without a uid')
  const bound = host.get(pod, namespace, name)
  if (bound === undefined) throw notFound(pod, name)
  if (bound.metadata.uid !== uid)
    throw admissionForbidden(
      attributes,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    )
  if (bound.spec.nodeName !== node)
    throw admissionForbidden(attributes, 'node requested token bound to a pod scheduled on a different node')
  const [audience = '', ...more] = spec.audiences ?? []
  if (more.length > 0) throw admissionForbidden(attributes, 'node may only request 0 or 1 audiences')
  return namesAudience(bound, audience, host) ? undefined : checkRight(audience, attributes, host)
}

/** A token of an agent is bound to the Node, so that it ends with it, and is for the API server. */
function checkAgentToken(
  node: string,
  attributes: AdmissionAttributes,
  { boundObjectRef, audiences, expirationSeconds }: TokenRequest['spec'],
  host: AdmissionHost,
): undefined {
  const { apiVersion, kind, name = '', uid = '' } = boundObjectRef ?? {}
  const own = host.get(nodeKind, '', node)
  if (own === undefined) throw notFound(nodeKind, node)
  if (apiVersion !== 'v1' || kind !== 'Node' || name !== node || uid !== own.metadata.uid)
    throw admissionForbidden(attributes, 'node requested token of an agent not bound to itself')
  if ((audiences ?? []).length > 0)
    throw admissionForbidden(attributes, 'node requested token of an agent for another audience')
  if (expirationSeconds > nodeAgentTokenSecondsMax)
    throw admissionForbidden(attributes, `tokens of agents expire within ${nodeAgentTokenSecondsMax} seconds`)
}

/** Requests for other audiences need the permission `request-serviceaccounts-token-audience` on the audience. */
async function checkRight(audience: string, attributes: AdmissionAttributes, host: AdmissionHost): Promise<void> {
  const { user, namespace, name, signal } = attributes
  const on = { version: 'v1', resource: audience, namespace, name }
  if (await host.isAllowed(user, 'request-serviceaccounts-token-audience', on, signal)) return
  throw admissionForbidden(
    attributes,
    `audience ${JSON.stringify(audience)} not found in pod spec volume, ${user.name} is not authorized to request tokens for this audience`,
  )
}

function namesAudience({ metadata, spec }: Pod, audience: string, reads: ObjectLister): boolean {
  const ofDriver = (name: string | undefined): boolean =>
    (reads.get(csiDriver, '', name ?? '')?.spec.tokenRequests ?? []).some((each) => (each.audience ?? '') === audience)
  const ofClaim = (name: string): boolean => {
    const claim = reads.get(persistentVolumeClaim, metadata.namespace ?? '', name)
    return ofDriver(reads.get(persistentVolume, '', claim?.spec.volumeName ?? '')?.spec.csi?.driver)
  }
  return (spec.volumes ?? []).some((volume) => {
    const { projected, csi, persistentVolumeClaim: claim, ephemeral } = volume
    const sources = projected?.sources ?? []
    if (sources.some(({ serviceAccountToken: token }) => token && (token.audience ?? '') === audience)) return true
    if (csi !== undefined) return ofDriver(csi.driver)
    if (claim !== undefined) return ofClaim(claim.claimName)
    return ephemeral !== undefined && ofClaim(`${metadata.name}-${volume.name}`)
  })
}
