// Certificate approving: approves requests of nodes for their own client certificate, and requests for any node's
// client certificate by users who are allowed to make them. All other requests are left to administrators.
import type { Context } from '../../base/observability/context.ts'
import { subjectAccessReview } from '../../api/authorization/v1/subject-access-review.ts'
import {
  certificateSigningRequest,
  type CertificateSigningRequest,
  type CertificateSigningRequestSpec,
} from '../../api/certificates/v1/certificate-signing-request.ts'
import type { Client } from '../../client/client.ts'
import { parseCertificateRequest, type RequestedCertificate } from '../../pki/parse-certificate-request.ts'
import { defineController } from '../runtime/controller.ts'
import { decision, isIssued, requestText, withDecision } from './request-conditions.ts'
import { kubeletClientRejection, kubeletClientSigner } from './signer-rules.ts'

/**
 * A request that is not allowed is checked again after its current age, because the permission may be granted later.
 */
const recheckMsMin = 1_000

interface ApprovalRule {
  /** The subresource whose creation must be allowed. */
  readonly part: 'selfnodeclient' | 'nodeclient'
  readonly message: string
}

const self: ApprovalRule = {
  part: 'selfnodeclient',
  message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
}
const any: ApprovalRule = {
  part: 'nodeclient',
  message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
}

/** The rules that may approve the request, in the order of evaluation. */
export function approvalRulesFor(
  spec: CertificateSigningRequestSpec,
  requested: RequestedCertificate,
): readonly ApprovalRule[] {
  if (spec.signerName !== kubeletClientSigner) return []
  if (kubeletClientRejection(requested, spec.usages ?? []) !== undefined) return []
  return spec.username === requested.subject.commonName ? [self, any] : [any]
}

export const certificateApprovingController = defineController({
  name: 'certificate-approving',
  account: 'certificate-controller',
  watches: [certificateSigningRequest],
  enqueues: (_, { key, now }) => (now === undefined ? [] : [key]),
  async reconcile(key, { client, cached, nowMs }, context) {
    const object = cached(certificateSigningRequest, key)
    if (object === undefined || isIssued(object) || isDecided(object)) return undefined
    const rules = approvalRulesOf(object)
    for (const rule of rules) {
      if (!(await isAllowed(object.spec, rule, client, context))) continue
      const approved = withDecision(object, 'Approved', 'AutoApproved', rule.message, nowMs)
      await client.of(certificateSigningRequest).updateSubresource(approved, 'approval', context)
      return undefined
    }
    const ageMs = nowMs - Date.parse(object.metadata.creationTimestamp ?? '')
    return rules.length === 0 ? undefined : Math.max(recheckMsMin, ageMs)
  },
})

const isDecided = (object: CertificateSigningRequest): boolean =>
  decision(object, 'Approved') !== undefined || decision(object, 'Denied') !== undefined

function approvalRulesOf(object: CertificateSigningRequest): readonly ApprovalRule[] {
  try {
    return approvalRulesFor(object.spec, parseCertificateRequest(requestText(object)))
  } catch {
    // The request cannot be parsed.
    return []
  }
}

async function isAllowed(
  { username = '', uid = '', groups = [], extra = {} }: CertificateSigningRequestSpec,
  { part }: ApprovalRule,
  client: Client,
  context: Context,
): Promise<boolean> {
  const resourceAttributes = {
    group: certificateSigningRequest.group,
    version: '*',
    resource: certificateSigningRequest.plural,
    subresource: part,
    verb: 'create',
  }
  const spec = { user: username, uid, groups, extra, resourceAttributes }
  const { status } = await client.of(subjectAccessReview).create({ metadata: {}, spec }, '', context)
  return status.allowed
}
