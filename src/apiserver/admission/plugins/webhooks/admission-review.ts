// AdmissionReview: builds the request to a webhook and parses its response.
import type { Kind } from '../../../../api/kind/kind.ts'
import { StatusError, type StatusReason } from '../../../../api/errors/status-error.ts'
import { isJsonObject, type JsonObject } from '../../../../schema/json/json-value.ts'
import type { AdmissionAttributes } from '../../framework/admission-plugin.ts'
import { requestOf } from '../../framework/admission-request.ts'
import { convertToVersion } from '../../framework/subresource-object.ts'
import type { Webhook } from './webhook.ts'
import { parseJson } from '../../../../schema/json/exact-json.ts'

export type ReviewVersion = 'v1' | 'v1beta1'

const group = 'admission.k8s.io'

/** The first supported version; validation ensures that there is one. */
export const reviewVersionOf = ({ admissionReviewVersions: versions }: Webhook['hook']): ReviewVersion =>
  versions.find((version): version is ReviewVersion => version === 'v1' || version === 'v1beta1') ?? 'v1'

export function reviewOf(attributes: AdmissionAttributes, kind: Kind, version: ReviewVersion, uid: string): object {
  const { object, old, subresourceObject } = attributes
  const { dryRun, options, ...request } = requestOf(attributes, kind)
  return {
    kind: 'AdmissionReview',
    apiVersion: `${group}/${version}`,
    request: {
      uid,
      ...request,
      object: object === undefined ? null : convertToVersion(kind, subresourceObject, object),
      oldObject: old === undefined ? null : convertToVersion(kind, subresourceObject, old),
      dryRun,
      options,
    },
  }
}

export interface ReviewResponse {
  readonly denial: StatusError | undefined
  /** The JSON patch as it was received. */
  readonly patch: unknown
  readonly warnings: readonly string[]
  readonly annotations: Readonly<Record<string, string>>
}

/** Throws if the response is invalid. */
export function parseReviewResponse(
  value: unknown,
  { hook }: Webhook,
  version: ReviewVersion,
  uid: string,
  mutates: boolean,
): ReviewResponse {
  const review = isJsonObject(value) ? value : {}
  const response = review['response']
  if (!isJsonObject(response)) throw new Error('webhook response was absent')
  if (version === 'v1') checkEnvelope(review, response, uid)
  const { allowed, status, warnings, auditAnnotations } = response
  return {
    denial: allowed === true ? undefined : denialError(hook.name, isJsonObject(status) ? status : {}),
    patch: patchOf(response, version, mutates),
    warnings: Array.isArray(warnings) ? warnings.filter((text) => typeof text === 'string') : [],
    annotations: isJsonObject(auditAnnotations)
      ? Object.fromEntries(Object.entries(auditAnnotations).map(([key, text]) => [key, String(text)]))
      : {},
  }
}

function checkEnvelope(review: JsonObject, response: JsonObject, uid: string): void {
  const { kind = '', apiVersion = '' } = review
  if (kind !== 'AdmissionReview' || apiVersion !== `${group}/v1`)
    throw new Error(
      `expected webhook response of ${group}/v1, Kind=AdmissionReview, got ${String(apiVersion)}, Kind=${String(kind)}`,
    )
  const got = typeof response['uid'] === 'string' ? response['uid'] : ''
  if (got !== uid) throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(got)}`)
}

function patchOf({ patch, patchType }: JsonObject, version: ReviewVersion, mutates: boolean): unknown {
  const hasPatch = typeof patch === 'string' && patch !== ''
  const hasType = typeof patchType === 'string'
  if (!mutates && version === 'v1') {
    if (hasPatch) throw new Error('validating webhook may not return response.patch')
    if (hasType) throw new Error('validating webhook may not return response.patchType')
  }
  if (!mutates || (!hasPatch && !hasType)) return undefined
  if (hasPatch && !hasType && version === 'v1')
    throw new Error('webhook returned response.patch but not response.patchType')
  if (!hasPatch) throw new Error('webhook returned response.patchType but not response.patch')
  if (hasType && patchType !== 'JSONPatch')
    throw new Error(`webhook returned invalid response.patchType of ${JSON.stringify(patchType)}`)
  return parseJson(new TextDecoder().decode(Uint8Array.fromBase64(patch)))
}

function denialError(name: string, { code, reason, message }: JsonObject): StatusError {
  const denied = `admission webhook ${JSON.stringify(name)} denied the request`
  const why = [message, reason].find((text) => typeof text === 'string' && text !== '')
  return new StatusError(
    typeof code === 'number' && code >= 400 && code < 600 ? code : 400,
    (typeof reason === 'string' ? reason : '') as StatusReason, // a webhook may return any reason
    typeof why === 'string' ? `${denied}: ${why}` : `${denied} without explanation`,
  )
}
