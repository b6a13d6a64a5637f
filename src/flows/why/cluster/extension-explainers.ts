// Explains problems of CustomResourceDefinitions, APIServices, CertificateSigningRequests and ResourceClaims.
import { customResourceDefinition, isEstablished } from '../../../api/apiextensions/v1/custom-resource-definition.ts'
import { apiService } from '../../../api/apiregistration/v1/api-service.ts'
import { certificateSigningRequest } from '../../../api/certificates/v1/certificate-signing-request.ts'
import { resourceClaim } from '../../../api/resource/v1/resource-claim.ts'
import { because, conditionOf, defineExplainer } from '../explainer/explainer.ts'
import { critical, info, problem, warning } from '../explainer/finding.ts'
import { kubectl } from '../explainer/fix-command.ts'

export const definitionExplainer = defineExplainer({
  kind: customResourceDefinition,
  checked: 'its conditions',
  explain(object) {
    if (isEstablished(object)) return Promise.resolve([])
    const conditions = object.status.conditions ?? []
    const accepted = conditionOf(conditions, 'NamesAccepted')
    const established = conditionOf(conditions, 'Established')
    return Promise.resolve([
      ...(accepted?.status === 'False' ? [problem(`Its names are not accepted: ${because(accepted)}.`)] : []),
      problem(
        `It is not established: ${established === undefined ? 'nothing has processed it' : because(established)}.`,
      ),
    ])
  },
})

export const apiServiceExplainer = defineExplainer({
  kind: apiService,
  checked: 'its conditions',
  explain({ metadata, spec, status }) {
    const available = conditionOf(status?.conditions, 'Available')
    if (spec.service === undefined || available?.status === 'True') return Promise.resolve([])
    return Promise.resolve([
      available === undefined
        ? warning('Nothing has checked its Service.')
        : critical(`It is not available: ${because(available)}.`, {
            fix: kubectl('', 'delete', 'apiservice', metadata.name),
          }),
    ])
  },
})

/** The signers of the certificate signing controller. */
const ownSigner =
  /^kubernetes\.io\/(kube-apiserver-client|kube-apiserver-client-kubelet|kubelet-serving|legacy-unknown)$/

export const certificateRequestExplainer = defineExplainer({
  kind: certificateSigningRequest,
  checked: 'its conditions and its certificate',
  explain({ metadata, spec, status }) {
    const of = (type: string) => conditionOf(status?.conditions, type)
    const denied = of('Denied')
    const failed = of('Failed')
    const approved = of('Approved')
    if (denied !== undefined) return Promise.resolve([problem(`It is denied: ${because(denied)}.`)])
    if (failed !== undefined)
      return Promise.resolve([problem(`Its certificate could not be issued: ${because(failed)}.`)])
    if (approved === undefined)
      return Promise.resolve([
        warning('It is not approved yet.', { fix: kubectl('', 'certificate', 'approve', metadata.name) }),
      ])
    if ((status?.certificate ?? '') !== '') return Promise.resolve([])
    return Promise.resolve([
      warning(
        ownSigner.test(spec.signerName)
          ? `It is approved, but the certificate signing controller has not issued its certificate yet.`
          : `It is approved, but no component of Coxswain signs for ${spec.signerName}: the controller of that signer must.`,
      ),
    ])
  },
})

export const deviceClaimExplainer = defineExplainer({
  kind: resourceClaim,
  checked: 'its allocation',
  explain: ({ status }) =>
    Promise.resolve(
      status?.allocation === undefined
        ? [
            info(
              'It is not allocated: the scheduler allocates it for the first pod that uses it, if a driver offers a device.',
            ),
          ]
        : [],
    ),
})
