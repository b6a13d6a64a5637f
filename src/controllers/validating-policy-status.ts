// Status of ValidatingAdmissionPolicies: the observed generation and the type errors in the expressions.
import { typeCheck } from '../api/admissionregistration/v1/type-checking.ts'
import {
  validatingAdmissionPolicy,
  type ValidatingAdmissionPolicy,
} from '../api/admissionregistration/v1/validating-admission-policy.ts'
import { storedKinds } from '../api/kinds.ts'
import { defineController } from './runtime/controller.ts'

export const validatingPolicyStatusController = defineController<ValidatingAdmissionPolicy>({
  name: 'validating-policy-status',
  account: 'validatingadmissionpolicy-status-controller',
  reconciles: validatingAdmissionPolicy,
  owns: [],
  plan(policy) {
    const { status, metadata } = policy
    const { generation = 1 } = metadata
    if ((status.observedGeneration ?? 0) >= generation) return { changes: [] }
    const expressionWarnings = typeCheck(policy, storedKinds)
    const typeChecking = expressionWarnings.length === 0 ? {} : { expressionWarnings }
    return { changes: [], status: { ...status, observedGeneration: generation, typeChecking } }
  },
})
