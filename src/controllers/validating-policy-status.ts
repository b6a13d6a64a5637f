// Status of ValidatingAdmissionPolicies: which generation was looked at.
import {
  validatingAdmissionPolicy,
  type ValidatingAdmissionPolicy,
} from '../api/admissionregistration/v1/validating-admission-policy.ts'
import { defineController } from './controller.ts'

export const validatingPolicyStatusController = defineController<ValidatingAdmissionPolicy>({
  name: 'validating-policy-status',
  account: 'validatingadmissionpolicy-status-controller',
  reconciles: validatingAdmissionPolicy,
  owns: [],
  plan({ metadata: { generation = 1 }, status }) {
    const isSeen = (status.observedGeneration ?? 0) >= generation
    return { changes: [], ...(isSeen ? {} : { status: { ...status, observedGeneration: generation } }) }
  },
})
