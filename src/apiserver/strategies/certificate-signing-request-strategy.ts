// CertificateSigningRequest: its user is the sender, its spec is immutable, and approval is a subresource.
import { rfc3339 } from '../../base/time/clock.ts'
import {
  certificateSigningRequest,
  type CertificateSigningRequest,
} from '../../api/certificates/v1/certificate-signing-request.ts'
import { withPreservedMetadata } from '../objects/preserved-metadata.ts'
import type { Strategy, StrategyContext } from '../registry/resource/strategy.ts'

type Conditions = NonNullable<CertificateSigningRequest['status']['conditions']>

export const certificateSigningRequestStrategy: Strategy<CertificateSigningRequest> = {
  kind: certificateSigningRequest,
  prepareCreate: (object, { user }) => {
    const { uid: _, extra: _extra, ...spec } = object.spec
    const uid = user.uid === '' ? {} : { uid: user.uid }
    const extra = Object.keys(user.extra).length === 0 ? {} : { extra: user.extra }
    return { ...object, spec: { ...spec, username: user.name, groups: [...user.groups], ...uid, ...extra } }
  },
  prepareUpdate: (object, old) => ({ ...object, spec: old.spec }),
  subresourceUpdates: {
    approval: (sent, old, context) => ({
      ...old,
      metadata: withPreservedMetadata(sent.metadata, old.metadata),
      status: {
        ...old.status,
        conditions: withTimes(sent.status.conditions ?? [], old.status.conditions ?? [], context),
      },
    }),
  },
}

/** A condition without times gets the time of the request; an existing one keeps its own. */
function withTimes(conditions: Conditions, old: Conditions, { nowMs }: StrategyContext): Conditions {
  const now = rfc3339(nowMs)
  return conditions.map((condition) => {
    const before = old.find(({ type, status }) => type === condition.type && status === condition.status)
    return {
      ...condition,
      lastUpdateTime: condition.lastUpdateTime ?? now,
      lastTransitionTime: condition.lastTransitionTime ?? before?.lastTransitionTime ?? now,
    }
  })
}
